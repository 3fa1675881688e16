import { describe, expect, it } from '@jest/globals';
import type { EgressRules } from '#contracts';
import { decide } from './decide.js';
import { factsOf, UNATTENDED } from './testing/call-facts.js';

const fetch = (url: string, egress: Partial<EgressRules> = {}) =>
  decide(factsOf('web_fetch', { url }, { posture: UNATTENDED, policy: { egress, allowedTools: ['*'] } }));
const textOf = ({ reasons }: ReturnType<typeof decide>) => reasons.map(({ reason }) => reason).join('\n');

describe('egress', () => {
  it.each(['https://example.com/', 'http://93.184.216.34/', 'https://[2606:2800:220:1::1]/', 'not a url'])(
    'allows egress to public hosts, and passes text that is no URL: %s',
    (url) => expect(fetch(url).effect).toBe('allow'),
  );

  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://x.localhost./',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest',
    'http://168.63.129.16/',
    'http://[::1]/',
    'http://[fc00::1]/',
    'http://[fe80::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://metadata.google.internal/',
    'http://0.0.0.0/',
    'http://１２７.0.0.1/',
  ])('denies egress to a private, loopback or metadata host: %s', (url) => expect(fetch(url).effect).toBe('deny'));

  it.each(['file:///etc/passwd', 'gopher://example.com/', 'http://user:pass@example.com/', 'http://user@example.com/'])(
    'denies egress by another protocol or with a user name: %s',
    (url) => expect(fetch(url).effect).toBe('deny'),
  );

  it('allows egress to a private host that the operator named, on the named port', () => {
    expect(fetch('http://10.0.0.1:8080/', { privateHosts: ['10.0.0.1:8080'] }).effect).toBe('allow');
    expect(fetch('http://10.0.0.1:8081/', { privateHosts: ['10.0.0.1:8080'] }).effect).toBe('deny');
  });

  it('denies egress to a blocked domain with its subdomains, also when it is allowed', () => {
    const lists = { blockedDomains: ['example.com'], allowedDomains: ['*', 'sub.example.com'] };
    for (const url of ['https://example.com/', 'https://sub.example.com/', 'https://EXAMPLE.com./'])
      expect(fetch(url, lists).effect).toBe('deny');
    expect(fetch('https://notexample.com/', lists).effect).toBe('allow');
  });

  it('requires the domain in the list for egress in strict mode [PP-44]', () => {
    const strict: Partial<EgressRules> = { mode: 'strict', allowedDomains: ['*', 'example.com'] };
    expect(fetch('https://sub.example.com/', strict).effect).toBe('allow');
    expect(textOf(fetch('https://other.org/', strict))).toContain('strict web egress policy blocked destination other.org');
    expect(fetch('https://example.com/', { mode: 'none' }).effect).toBe('deny');
    expect(fetch('https://other.org/', { allowedDomains: ['example.com'] }).effect).toBe('deny');
  });

  it('applies the domain lists to the egress of a command', () => {
    const shell = (command: string) =>
      decide(factsOf('shell', { command }, { posture: UNATTENDED, policy: { egress: { blockedDomains: ['bad.com'] } } })).effect;
    expect([
      shell('curl -sS https://x.bad.com/a'),
      shell('git clone --origin=https://bad.com/a'),
      shell('curl http://127.0.0.1:3000/'),
    ]).toEqual(['deny', 'deny', 'allow']);
  });
});
