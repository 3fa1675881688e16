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

/** The same output without the values of secrets, which a server may send back. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const text = JSON.stringify(value);
  const found = secrets
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .filter((secret) => secret.length >= 4 && text.includes(secret));
  if (found.length === 0) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape is the same: only texts change
  return JSON.parse(found.reduce((clean, secret) => clean.replaceAll(secret, '[REDACTED]'), text)) as T;
}
