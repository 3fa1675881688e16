import { McpServer } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '#contracts';
import type { ToolServer } from './tool-server.js';

const ANNOTATION = '"x-mcp-header"';
const mirrors = new WeakMap<ToolDescriptor, boolean>();

/** True if parameters of the tool are mirrored in headers. */
export function hasMirroredParameters(tool: ToolDescriptor): boolean {
  const known = mirrors.get(tool) ?? JSON.stringify(tool.input).includes(ANNOTATION);
  mirrors.set(tool, known);
  return known;
}

/**
 * Wraps the server, so that the SDK compares parameters with their `Mcp-Param-*` headers (decision 0001), which it does only
 * for an `McpServer` with an input schema.
 */
export function withMirroredParameters(server: ToolServer, { input }: ToolDescriptor): McpServer {
  const named = new McpServer({ name: 'toolyard', version: '0' });
  return Object.assign(named, { server, toolInputSchemaJson: () => input });
}
