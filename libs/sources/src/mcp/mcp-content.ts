import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Content } from '#contracts';
import type { ToolOutputObject } from '#tool-sdk';

/** The result of a tool as its server gave it, with every kind of content. */
export function outputOf(result: CallToolResult): ToolOutputObject {
  const content = result.content.map(contentOf);
  return {
    content,
    ...(result.isError === undefined ? {} : { isError: result.isError }),
    ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
  };
}

function contentOf(block: ContentBlock): Content {
  const annotations = annotationsOf(block);
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...annotations };
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mimeType: block.mimeType, ...annotations };
    case 'resource_link': {
      const { uri, name, title, mimeType, description, size } = block;
      return {
        type: 'resource_link',
        uri,
        name,
        ...(title === undefined ? {} : { title }),
        ...(mimeType === undefined ? {} : { mimeType }),
        ...(description === undefined ? {} : { description }),
        ...(size === undefined ? {} : { size }),
        ...annotations,
      };
    }
    case 'resource': {
      const { uri, mimeType } = block.resource;
      const named = { uri, ...(mimeType === undefined ? {} : { mimeType }) };
      const resource = 'text' in block.resource ? { ...named, text: block.resource.text } : { ...named, blob: block.resource.blob };
      return { type: 'resource', resource, ...annotations };
    }
    default:
      return block satisfies never;
  }
}

function annotationsOf({ annotations }: ContentBlock): Pick<Extract<Content, { type: 'text' }>, 'annotations'> {
  if (annotations === undefined) return {};
  const { audience, priority, lastModified } = annotations;
  return {
    annotations: {
      ...(audience === undefined ? {} : { audience }),
      ...(priority === undefined ? {} : { priority }),
      ...(lastModified === undefined ? {} : { lastModified }),
    },
  };
}
