/** Addresses of the gateways that tests of this process have started. */
export const gatewayUrls = new Set<string>();
