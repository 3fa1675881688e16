import { EgressPolicy, NoSandbox } from '#sandbox';
import { McpConnector, type McpConnectorOptions } from '../mcp/mcp.source.js';

/** A connector that reaches only `hosts` (`name:port`), runs programs as they are, and has no uploaded bundles and no model of the operator. */
export function mcpConnector(hosts: readonly string[] = [], options: Partial<McpConnectorOptions> = {}): McpConnector {
  return new McpConnector({
    sandboxOf: () => new NoSandbox(),
    egress: new EgressPolicy(hosts),
    env: {},
    toolEnv: { PATH: process.env['PATH'] ?? '' },
    isOver: async () => false,
    uploaded: {
      keep: () => Promise.resolve(),
      read: () => {
        throw new Error('no bundle was uploaded');
      },
    },
    modelOf: () => {
      throw new Error('no model is configured');
    },
    folder: '',
    ...options,
  });
}
