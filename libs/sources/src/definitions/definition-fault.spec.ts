import { describe, expect, it } from '@jest/globals';
import { SourceRules, type SourceDefinition, type StoredSource } from '#contracts';
import { definitionFault } from './definition-fault.js';

describe('definitionFault', () => {
  const rules = SourceRules.parse({ secrets: [{ name: 'TRACKER_TOKEN', tenants: ['a'], hosts: ['tools.example.com'] }] });
  const byKey = (more: object): StoredSource => ({
    tenantId: 'a',
    origin: 'api',
    definition: { ...definition('x'), ...more },
  });

  it('hides keys from programs, files, secrets and facts of the workers', () => {
    expect(definitionFault(byKey({}), rules)).toBeUndefined();
    expect(definitionFault(byKey({ headers: { authorization: { secretEnv: 'TRACKER_TOKEN' } } }), rules)).toBeUndefined();
    for (const more of [
      { headers: { authorization: { secretEnv: 'DATABASE_URL' } } },
      { url: undefined, command: ['sh'] },
      { paths: ['/etc'] },
      { kind: 'folder', path: '/srv' },
      { trust: true },
      { pin: false },
    ])
      expect(definitionFault(byKey(more), rules)).toMatch(/config file/);
    expect(definitionFault(byKey({ command: ['sh'] }), { ...rules, allowCommands: true })).toBeUndefined();
    const preload = byKey({ url: undefined, command: ['sh'], env: { LD_PRELOAD: '/tmp/x.so' } });
    expect(definitionFault(preload, { ...rules, allowCommands: true })).toMatch(/LD_PRELOAD is for sources of the config file/);
    expect(definitionFault({ ...byKey({ trust: true, command: ['sh'] }), origin: 'config' }, rules)).toBeUndefined();
  });
});

describe('secrets of sources that keys add', () => {
  const TOKEN = { secretEnv: 'TOKEN' };
  const rule = (more: object) =>
    SourceRules.parse({ allowCommands: true, secrets: [{ name: 'TOKEN', tenants: ['acme'], hosts: ['api.example.com'], ...more }] });
  const faultOf = (more: object, rules = rule({}), tenantId = 'acme') =>
    definitionFault({ tenantId, origin: 'api', definition: { ...definition('x'), ...more } }, rules);
  const mcp = (url: string) => ({ url, headers: { authorization: TOKEN } });
  const api = (more: object) => ({ kind: 'openapi', url: undefined, auth: { type: 'bearer', token: TOKEN }, ...more });
  const oauth = (tokenUrl: string) => ({ type: 'clientCredentials', tokenUrl, clientId: 'x', clientSecret: TOKEN, send: 'basic' });
  const program = { url: undefined, command: ['serve'], env: { TOKEN } };

  it.each<[string, object]>([
    ['the host of the server', mcp('https://api.example.com/mcp')],
    ['the host of the document', api({ document: 'https://api.example.com/v1.json' })],
    [
      'the issuer of tokens and the API',
      api({ document: 'https://api.example.com/v1.json', auth: oauth('https://api.example.com/token') }),
    ],
    ['the host in other letters', mcp('https://API.example.com:443/mcp')],
    [
      'the base address, wherever the document is',
      api({ document: 'https://docs.example.org/v1.json', url: 'https://api.example.com/v1' }),
    ],
  ])('lets secrets of sources that keys add go to %s where a rule names it', (_where, more) => {
    expect(faultOf(more)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['another host', mcp('https://evil.example.com/mcp')],
    ['a host that ends alike', mcp('https://api.example.com.evil.org/mcp')],
    ['another port', mcp('https://api.example.com:8443/mcp')],
    ['another base address', api({ document: 'https://api.example.com/v1.json', url: 'https://evil.example.com' })],
    ['the host of another document', api({ document: 'https://evil.example.com/v1.json' })],
    ['the same host with a dot', mcp('https://api.example.com./mcp')],
    ['a host behind its name', mcp('https://api.example.com@evil.org/mcp')],
    ['a host that looks alike', mcp('https://\u0430pi.example.com/mcp')],
    ['an API that gets the tokens', api({ document: 'https://evil.example.com/v1.json', auth: oauth('https://api.example.com/token') })],
    ['another issuer of tokens', api({ document: 'https://api.example.com/v1.json', auth: oauth('https://evil.example.com/token') })],
    ['a program', program],
  ])('keeps secrets of sources that keys add from %s', (_where, more) => {
    expect(faultOf(more)).toMatch(/sourceRules\.secrets .* does not let the secret TOKEN be/);
  });

  it('gives secrets to the tenants of their rule, and to a program only with the host *', () => {
    expect(faultOf(mcp('https://api.example.com/mcp'), rule({}), 'rival')).toMatch(
      /no rule that lets the tenant rival use the secret TOKEN/,
    );
    expect(faultOf(mcp('https://a.example.com/mcp'), rule({ tenants: ['acme*'], hosts: ['*.example.com'] }), 'acme-2')).toBeUndefined();
    expect(faultOf(program, rule({ hosts: ['*'] }))).toBeUndefined();
    for (const hosts of [['api.example.com'], ['*'], ['http://other.example.com']])
      expect(faultOf(mcp('http://api.example.com/mcp'), rule({ hosts }))).toMatch(/sent to http:\/\/api\.example\.com without TLS/);
    expect(faultOf(mcp('http://api.example.com/mcp'), rule({ hosts: ['http://api.example.com'] }))).toBeUndefined();
    expect(faultOf(mcp('https://api.example.com/mcp'), rule({ hosts: ['http://api.example.com'] }))).toMatch(/does not let/);
    expect(faultOf(mcp('https://api.example.com/mcp'), SourceRules.parse({}))).toMatch(/no rule/);
    expect(() => SourceRules.parse({ secrets: ['TOKEN'] })).toThrow(/expected \{name, tenants, hosts\}/);
  });
});

function definition(name: string): SourceDefinition {
  return { name, kind: 'mcp', url: 'https://tools.example.com/mcp', trust: false, pin: true };
}
