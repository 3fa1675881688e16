import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { Json, type Content } from '#contracts';
import type { ToolOutputObject } from '#tool-sdk';

/** The result of a tool as its server gave it. Kinds of content that calls do not have are kept whole, as JSON. */
export function outputOf(result: CallToolResult): ToolOutputObject {
  const content = result.content.map(contentOf);
  return {
    content,
    ...(result.isError === undefined ? {} : { isError: result.isError }),
    ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
  };
}

function contentOf(block: ContentBlock): Content {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image', data: block.data, mimeType: block.mimeType };
    case 'resource_link': {
      const { uri, name, mimeType, description } = block;
      return {
        type: 'resource_link',
        uri,
        name,
        ...(mimeType === undefined ? {} : { mimeType }),
        ...(description === undefined ? {} : { description }),
      };
    }
    case 'audio':
    case 'resource':
      return { type: 'json', json: Json.parse(block) };
    default:
      return block satisfies never;
  }
}
