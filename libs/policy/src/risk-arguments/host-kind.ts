import ipaddr from 'ipaddr.js';

const METADATA_ADDRESSES = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd20:ce::254',
]);
const METADATA_NAMES = new Set(['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']);
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * Reason why a host of a URL is not public, by its text: special addresses (RFC 6890), names of this machine and of metadata
 * services. Undefined for public addresses and for all other names, whose addresses are checked when connecting.
 */
export function privateHostReason(hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(host)) return privateNameReason(host);
  const processed = ipaddr.process(host);
  const address =
    processed.kind() === 'ipv6' && processed.match(NAT64) ? ipaddr.fromByteArray(processed.toByteArray().slice(12)) : processed;
  if (METADATA_ADDRESSES.has(address.toString())) return 'a cloud metadata address';
  const range: string = address.range();
  return range === 'unicast' ? undefined : `not a public address (${range})`;
}

function privateNameReason(name: string): string | undefined {
  if (name === 'localhost' || name.endsWith('.localhost')) return 'this machine';
  return METADATA_NAMES.has(name) ? 'a cloud metadata service' : undefined;
}
