import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Addresses of a machine change seldom, and reading them takes a system call for each. */
const FRESH_MS = 10_000;

let known: { readonly at: number; readonly addresses: ReadonlySet<string> } | undefined;

/**
 * True if an interface of this machine has the address. Tools must not reach even a public one: services behind a firewall,
 * such as the Redis of this installation, accept connections from this machine.
 */
export function isOwnAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const now = performance.now();
  if (known === undefined || now - known.at > FRESH_MS) known = { at: now, addresses: readAddresses() };
  return known.addresses.has(normalized(address));
}

function readAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.map(({ address }) => normalized(address)));
}

function normalized(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}
