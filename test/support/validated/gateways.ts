/** Addresses of the gateways that this test file has started. */
export const gatewayUrls = new Set<string>();
