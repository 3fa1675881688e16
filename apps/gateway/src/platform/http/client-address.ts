import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

/** Bytes of an IPv6 network, the unit assigned to one client. */
const NETWORK_BYTES = 8;

export type TrustedProxies = ReturnType<typeof proxyAddr.compile>;

/** @throws Error unless each entry is an address, a network or a name of networks (`loopback`, `linklocal`, `uniquelocal`) */
export function trustedProxies(list: readonly string[]): TrustedProxies {
  return proxyAddr.compile([...list]);
}

/**
 * Network address that a request is counted for: an IPv4 address, or the /64 network of an IPv6 one. The connection's address;
 * if that is a trusted proxy, the last untrusted address in X-Forwarded-For.
 */
export function clientAddress(request: IncomingMessage, trusted: TrustedProxies): string {
  const direct = request.socket.remoteAddress;
  if (direct === undefined) return 'unknown';
  const found = proxyAddr(request, trusted);
  const address = ipaddr.process(ipaddr.isValid(found) ? found : direct);
  if (address.kind() === 'ipv4') return address.toString();
  const network = [...address.toByteArray().slice(0, NETWORK_BYTES), ...Array.from({ length: NETWORK_BYTES }, () => 0)];
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
