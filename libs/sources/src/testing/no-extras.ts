import type { McpConnectorOptions } from '../mcp/mcp.source.js';

/** No uploaded bundles, and no model of the operator. */
export const NO_EXTRAS: Pick<McpConnectorOptions, 'uploaded' | 'modelOf'> = {
  uploaded: {
    keep: () => Promise.resolve(),
    read: () => {
      throw new Error('no bundle was uploaded');
    },
  },
  modelOf: () => {
    throw new Error('no model is configured');
  },
};
