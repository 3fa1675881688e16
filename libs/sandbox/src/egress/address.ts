import ipaddr from 'ipaddr.js';

/** Addresses that look public or merely private and hand out the credentials of the machine: named, so that the refusal says why. */
const METADATA = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'].map((text) =>
  ipaddr.parse(text).toNormalizedString(),
);

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');
/** RFC 4291: the only block of IPv6 addresses that is routed on the internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

const WORDS: Readonly<Record<string, string>> = {
  private: 'a private address',
  uniqueLocal: 'a private address',
  loopback: 'a loopback address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a carrier-grade NAT address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  unspecified: 'an unspecified address',
};

/**
 * Reason why tools may not connect to `address`, as a text that fits after "is" or "resolves to"; undefined for a public one.
 * Based on the IANA special-purpose registries (RFC 6890). Checks the IPv4 address inside an IPv6 one (mapped, NAT64); rejects
 * tunnels that hide one (6to4, Teredo). Accepts text as returned by a resolver.
 */
export function privateAddressReason(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return 'no valid address';
  const parsed = unwrapped(ipaddr.process(address));
  if (METADATA.includes(parsed.toNormalizedString())) return 'a cloud metadata address';
  const range: string = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? 'a reserved address';
  return parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_IPV6) ? 'a reserved address' : undefined;
}

function unwrapped(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address.kind() === 'ipv6' && address.match(NAT64) ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address;
}
