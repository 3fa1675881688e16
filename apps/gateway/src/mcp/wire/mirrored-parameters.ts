import { McpServer } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '#contracts';
import type { ToolServer } from './tool-server.js';

const ANNOTATION = '"x-mcp-header"';
const mirrors = new WeakMap<ToolDescriptor, boolean>();

/** Whether parameters of the tool are mirrored in headers. */
export function hasMirroredParameters(tool: ToolDescriptor): boolean {
  const known = mirrors.get(tool) ?? JSON.stringify(tool.input).includes(ANNOTATION);
  mirrors.set(tool, known);
  return known;
}

/**
 * The server, in the form in which the SDK compares parameters with their `Mcp-Param-*` headers before it serves a request
 * (decision 0001): it does so for an `McpServer` only, by the input schema that this one names.
 */
export function withMirroredParameters(server: ToolServer, { input }: ToolDescriptor): McpServer {
  const named = new McpServer({ name: 'toolyard', version: '0' });
  return Object.assign(named, { server, toolInputSchemaJson: () => input });
}
