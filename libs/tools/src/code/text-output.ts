import type { ToolOutputObject } from '#tool-sdk';

export function textOutput(text: string, details: Readonly<Record<string, unknown>>): ToolOutputObject {
  return { content: [{ type: 'text', text }], details };
}
