import { networkInterfaces } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { privateAddressReason } from './address.js';
import { egressPolicyFrom } from './egress.config.js';
import { EgressError } from './egress-error.js';
import { EgressPolicy } from './egress-policy.js';
import { isOwnAddress } from './own-addresses.js';

const policy = new EgressPolicy();

function refusal(url: string, by = policy): string {
  try {
    return `allowed ${by.check(url).href}`;
  } catch (error) {
    if (error instanceof EgressError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}

describe('the egress policy', () => {
  it.each([
    ['http://127.0.0.1/', 'a loopback address'],
    ['http://127.1/', 'a loopback address'],
    ['http://127.0.1/', 'a loopback address'],
    ['http://2130706433/', 'a loopback address'],
    ['http://0x7f000001/', 'a loopback address'],
    ['http://0x7f.0x0.0x0.0x1/', 'a loopback address'],
    ['http://0177.0.0.1/', 'a loopback address'],
    ['http://017700000001/', 'a loopback address'],
    ['http://127.0.0.1./', 'a loopback address'],
    ['http://①②⑦.0.0.1/', 'a loopback address'],
    ['http://１２７。０。０。１/', 'a loopback address'],
    ['http://127%2e0%2e0%2e1/', 'a loopback address'],
    ['http://\t127.0.0.1/', 'a loopback address'],
    ['http:\\\\127.0.0.1\\', 'a loopback address'],
    ['http:127.0.0.1', 'a loopback address'],
    ['http://[::1]/', 'a loopback address'],
    ['http://[0:0:0:0:0:0:0:1]/', 'a loopback address'],
    ['http://[::ffff:127.0.0.1]/', 'a loopback address'],
    ['http://[::ffff:7f00:1]/', 'a loopback address'],
    ['http://[::127.0.0.1]/', 'a reserved address'],
    ['http://[64:ff9b::127.0.0.1]/', 'a loopback address'],
    ['http://[64:ff9b::a9fe:a9fe]/', 'a cloud metadata address'],
    ['http://[64:ff9b:1::1]/', 'a reserved address'],
    ['http://[2002:7f00:1::]/', 'a reserved address'],
    ['http://[2001::1]/', 'a reserved address'],
    ['http://[::ffff:0:127.0.0.1]/', 'a reserved address'],
    ['http://0/', 'an unspecified address'],
    ['http://0.0.0.0/', 'an unspecified address'],
    ['http://[::]/', 'an unspecified address'],
    ['http://10.0.0.1/', 'a private address'],
    ['http://10.1/', 'a private address'],
    ['http://172.16.0.1/', 'a private address'],
    ['http://172.31.255.255/', 'a private address'],
    ['http://192.168.1.1/', 'a private address'],
    ['http://3232235777/', 'a private address'],
    ['http://[fc00::1]/', 'a private address'],
    ['http://[fd12:3456::1]/', 'a private address'],
    ['http://169.254.1.1/', 'a link-local address'],
    ['http://[fe80::1]/', 'a link-local address'],
    ['http://[febf::1]/', 'a link-local address'],
    ['http://169.254.169.254/latest/meta-data/', 'a cloud metadata address'],
    ['http://2852039166/', 'a cloud metadata address'],
    ['http://0xa9fea9fe/', 'a cloud metadata address'],
    ['http://[fd00:ec2::254]/', 'a cloud metadata address'],
    ['http://168.63.129.16/', 'a cloud metadata address'],
    ['http://100.100.100.200/', 'a cloud metadata address'],
    ['http://100.64.0.1/', 'a carrier-grade NAT address'],
    ['http://100.127.255.255/', 'a carrier-grade NAT address'],
    ['http://224.0.0.1/', 'a multicast address'],
    ['http://[ff02::1]/', 'a multicast address'],
    ['http://255.255.255.255/', 'a broadcast address'],
    ['http://240.0.0.1/', 'a reserved address'],
    ['http://192.0.2.1/', 'a reserved address'],
    ['http://198.18.0.1/', 'a reserved address'],
    ['http://[2001:db8::1]/', 'a reserved address'],
    ['http://[fec0::1]/', 'a reserved address'],
    ['http://[4000::1]/', 'a reserved address'],
    ['http://[100::1]/', 'a reserved address'],
  ])('refuses egress to %s as %s [PP-45]', (url, why) => {
    expect(refusal(url)).toMatch(new RegExp(`^blocked: Blocked: .+ is ${why}\\. Only public internet addresses can be fetched\\.$`));
  });

  it.each([
    ['file:///etc/passwd', 'blocked: Blocked: only http and https URLs can be fetched, not file'],
    ['ftp://example.com/', 'blocked: Blocked: only http and https URLs can be fetched, not ftp'],
    ['gopher://example.com:70/', 'blocked: Blocked: only http and https'],
    ['data:text/plain,x', 'blocked: Blocked: only http and https'],
    ['javascript:alert(1)', 'blocked: Blocked: only http and https'],
    ['https://user:secret@example.com/', 'blocked: Blocked: the URL must not contain a user name or password'],
    ['https://example.com@127.0.0.1/', 'blocked: Blocked: the URL must not contain a user name or password'],
    ['http://example.com:22/', 'blocked: Blocked: port 22 is not a web port'],
    ['http://example.com:25/', 'blocked: Blocked: port 25 is not a web port'],
    ['http://example.com:6667/', 'blocked: Blocked: port 6667 is not a web port'],
    ['example.com', 'invalid: Not a valid URL: example.com. Give an absolute URL'],
    ['http://', 'invalid: Not a valid URL'],
    ['http://1.2.3.4.5/', 'invalid: Not a valid URL'],
    ['http://256.256.256.256/', 'invalid: Not a valid URL'],
    ['http://[::1', 'invalid: Not a valid URL'],
  ])('refuses egress to %s', (url, message) => {
    expect(refusal(url)).toContain(message);
  });

  it.each([
    'https://example.com/',
    'http://example.com:8080/x',
    'https://93.184.216.34/',
    'http://[2606:4700::1111]/',
    'http://[64:ff9b::5db8:d822]/',
    'http://[::ffff:93.184.216.34]/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
  ])('allows egress to %s', (url) => {
    expect(refusal(url)).toMatch(/^allowed http/);
  });

  it('refuses a name if any of its addresses is private [PP-45]', async () => {
    const answers = (...addresses: string[]) =>
      new EgressPolicy([], async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    await expect(answers('169.254.169.254').addresses('metadata.example', '')).rejects.toThrow(
      'Blocked: metadata.example resolves to a cloud metadata address.',
    );
    await expect(answers('93.184.216.34', '10.0.0.1').addresses('mixed.example', '')).rejects.toThrow(
      'Blocked: mixed.example resolves to a private address.',
    );
    await expect(answers('fe80::1%eth0').addresses('zone.example', '')).rejects.toThrow('a link-local address');
    await expect(answers('not an address').addresses('odd.example', '')).rejects.toThrow('no valid address');
    await expect(answers('93.184.216.34', '2606:4700::1111').addresses('good.example', '')).resolves.toHaveLength(2);
  });

  it('refuses egress to addresses of this machine, also public ones, unless an operator named them', async () => {
    const resolve = async () => [{ address: '::ffff:93.184.216.34', family: 6 }];
    const at = (allowHosts: string[]) => new EgressPolicy(allowHosts, resolve, (address) => address.endsWith('93.184.216.34'));
    for (const limited of [at([]), at([]).limitedTo({ refusalOf: () => undefined, allowsPrivate: () => true })]) {
      expect(refusal('http://93.184.216.34:6379/', limited)).toContain('93.184.216.34 is an address of this machine.');
      await expect(limited.addresses('own.example', '')).rejects.toThrow('own.example resolves to an address of this machine.');
    }
    expect(refusal('http://93.184.216.34:6379/', at(['93.184.216.34:6379']))).toMatch(/^allowed/);
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    expect(own.every(({ address }) => isOwnAddress(address))).toBe(true);
    expect([isOwnAddress('::ffff:127.0.0.1'), isOwnAddress('93.184.216.34'), isOwnAddress('no address')]).toEqual([true, false, false]);
  });

  it('evaluates an IPv4 address the same in each of its IPv6 forms', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const bytes = ipaddr.IPv4.parse(address).octets;
        const hex = `${((bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)).toString(16)}:${((bytes[2] ?? 0) * 256 + (bytes[3] ?? 0)).toString(16)}`;
        expect(privateAddressReason(`::ffff:${hex}`)).toBe(privateAddressReason(address));
        expect(privateAddressReason(`64:ff9b::${hex}`)).toBe(privateAddressReason(address));
      }),
    );
  });

  it('lets an operator name hosts that may be private and use any port', async () => {
    const open = egressPolicyFrom({ EGRESS_ALLOW_HOSTS: '127.0.0.1:9100, Wiki.Internal ,[::1]:9100' });
    expect(refusal('http://127.0.0.1:9100/metrics', open)).toMatch(/^allowed/);
    expect(refusal('http://[::1]:9100/', open)).toMatch(/^allowed/);
    expect(refusal('http://wiki.internal:22/', open)).toMatch(/^allowed/);
    expect(refusal('http://127.0.0.1:9101/', open)).toMatch(/^blocked/);
    expect(refusal('http://127.0.0.1/', open)).toMatch(/^blocked/);
    expect(refusal('http://user:x@wiki.internal/', open)).toMatch(/^blocked/);
    expect(() => egressPolicyFrom({ EGRESS_ALLOW_HOSTS: 'http://x/,ok' })).toThrow(
      'EGRESS_ALLOW_HOSTS: expected host or host:port, separated by commas, got "http://x/"',
    );
  });
});
