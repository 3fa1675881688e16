import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JwtIssuer, LoginSettings, ProblemError, type ApiKeyConfig, type Principal, type Scope } from '#contracts';
import { sha256Hex } from '#redis';
import { readGatewayConfig, type GatewayConfig } from '../platform/gateway.config.js';
import { ApiKeyStore } from './api-key-store.service.js';
import { OpenSockets, type SocketReservation } from './open-sockets.service.js';
import { OriginPolicy } from './origin-policy.service.js';
import { TokenBucket } from './token-bucket.js';
import { isToolAllowed } from './tool-patterns.js';

const base = readGatewayConfig({ TOOLYARD_API_KEY: 'bootstrap-key-of-the-test' });
const withConfig = (change: Partial<GatewayConfig>): GatewayConfig => ({ ...base, ...change });

const key = (id: string): ApiKeyConfig => ({ id, key: `the-${id}-key-of-acme`, tenant: 'acme', scopes: ['read'] });

describe('the key ring', () => {
  const ring = new ApiKeyStore(
    withConfig({
      keys: [
        ...base.keys,
        { id: 'hashed', sha256: sha256Hex('the-hashed-key-of-acme'), tenant: 'acme', agent: 'bot', scopes: ['read'], ratePerMinute: 5 },
        { id: 'old', key: 'the-expired-key-of-acme', tenant: 'acme', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' },
      ],
    }),
  );

  it('finds a key and its owner by its text or its digest', () => {
    expect(ring.authenticate('bootstrap-key-of-the-test')).toMatchObject({ keyId: 'bootstrap', tenantId: 'default' });
    expect(ring.authenticate('the-hashed-key-of-acme')).toEqual({
      keyId: 'hashed',
      tenantId: 'acme',
      agentId: 'bot',
      scopes: ['read'],
      ratePerMinute: 5,
    });
  });

  it('finds no unknown or expired key, and none by the digest of its digest', () => {
    for (const token of [
      '',
      'x',
      'bootstrap-key-of-the-tes',
      sha256Hex('the-hashed-key-of-acme'),
      'the-expired-key-of-acme',
      '__proto__',
    ]) {
      expect([token, ring.authenticate(token)]).toEqual([token, undefined]);
    }
    expect(ring.authenticate('the-expired-key-of-acme', undefined, Date.parse('2019-12-31T00:00:00Z'))).toMatchObject({ keyId: 'old' });
  });

  it('checks each key of a connection by itself, for no longer than it is valid', () => {
    const own = new ApiKeyStore(withConfig({ keys: [...base.keys, { ...key('brief'), expiresAt: '2030-01-01T00:00:00Z' }, key('other')] }));
    const connection = {};
    const who = (token: string, now?: string) =>
      own.authenticate(token, connection, now === undefined ? undefined : Date.parse(now))?.keyId;
    const tokens = ['brief', 'brief', 'other', 'brief', 'brief', 'brieg', 'brie', 'brief'].map((name) => `the-${name}-key-of-acme`);
    expect(tokens.map((token) => who(token))).toEqual(['brief', 'brief', 'other', 'brief', 'brief', undefined, undefined, 'brief']);
    expect(who('the-brief-key-of-acme', '2029-12-31T23:59:59Z')).toBe('brief');
    expect(who('the-brief-key-of-acme', '2030-01-01T00:00:00Z')).toBeUndefined();
    own.replace([key('other')]);
    expect(who('the-brief-key-of-acme')).toBeUndefined();
    expect(who('the-other-key-of-acme')).toBe('other');
  });
});

describe('a principal that outlives its request', () => {
  const EXPIRES = '2030-01-01T00:00:00Z';
  const start = (entry: Partial<ApiKeyConfig> = {}) => {
    const ring = new ApiKeyStore(withConfig({ keys: [{ ...key('long'), scopes: ['read', 'submit'], ...entry }] }));
    const principal = ring.authenticate('the-long-key-of-acme', undefined, 0);
    if (principal === undefined) throw new Error('the key is not known');
    return { ring, principal };
  };
  const LOST: readonly (readonly [string, readonly ApiKeyConfig[], string])[] = [
    ['was removed', [], 'unauthenticated'],
    ['was replaced by another text', [{ ...key('long'), key: 'the-new-key-of-acme' }], 'unauthenticated'],
    ['has expired', [{ ...key('long'), expiresAt: '2020-01-01T00:00:00Z' }], 'unauthenticated'],
    ['is of another tenant', [{ ...key('long'), tenant: 'rival' }], 'unauthenticated'],
    ['has fewer scopes', [{ ...key('long'), scopes: ['submit'] }], 'forbidden'],
  ];

  it.each(LOST)('ends a principal once when its key %s', (_what, keys, code) => {
    const { ring, principal } = start();
    const heard: string[] = [];
    ring.watch(principal, 'read', (problem) => heard.push(problem.code));
    ring.replace([key('long'), key('other')]);
    expect([heard, ring.rejection(principal, 'read')]).toEqual([[], undefined]);
    ring.replace(keys);
    ring.replace(keys);
    expect([heard, ring.rejection(principal, 'read')?.code]).toEqual([[code], code]);
  });

  it('updates a stored principal to the present rights of its key', () => {
    const { ring, principal } = start();
    const stored = { ...principal };
    ring.replace([{ ...key('long'), scopes: ['cancel'], agents: ['bot'] }]);
    for (const held of [principal, stored]) expect(ring.current(held)).toMatchObject({ scopes: ['cancel'], agents: ['bot'] });
    ring.replace([{ ...key('long'), id: 'renamed' }]);
    expect([ring.current(principal)?.keyId, ring.current(stored)]).toEqual(['renamed', undefined]);
  });

  it('ends a principal when it expires, unless the watch was stopped', () => {
    const { ring, principal } = start({ expiresAt: EXPIRES });
    expect(ring.rejection(principal, 'read', Date.parse(EXPIRES) - 1)).toBeUndefined();
    expect(ring.rejection(principal, 'read', Date.parse(EXPIRES))?.detail).toContain('expired');
    const heard: string[] = [];
    ring.watch(principal, 'read', (problem) => heard.push(problem.code))();
    ring.replace([]);
    expect(heard).toEqual([]);
  });
});

describe('the person behind a key', () => {
  it('finds all keys and tokens of the person behind a key', () => {
    const ring = new ApiKeyStore(
      withConfig({ keys: [{ ...key('one'), person: 'ada' }, { ...key('two'), person: 'ada' }, key('ada'), key('plain')] }),
    );
    const same = (one: string, other: string) => [ring.isSamePerson(one, other), ring.isSamePerson(other, one)];
    for (const other of ['one', 'two', 'https://id.example.com#ada', 'https://other.example.com#ada'])
      expect(same('one', other)).toEqual([true, true]);
    for (const other of ['ada', 'plain', 'gone', 'https://id.example.com#eve']) expect(same('one', other)).toEqual([false, false]);
    expect(same('plain', 'gone')).toEqual([false, false]);
    // Key created over HTTP, not yet or no longer known here.
    expect(same('plain', 'key-01jz8c5w3q4x9r7t2m6k8n0p1v')).toEqual([true, true]);
  });
});

describe('the stored principal of a token', () => {
  const rules = (more: object) =>
    JwtIssuer.parse({
      issuer: 'https://issuer.example.com',
      audience: 'toolyard',
      jwks: { keys: [{ kty: 'EC' }] },
      tenantClaim: 'org',
      scopes: ['read', 'submit'],
      ...more,
    });
  const stored: Principal = {
    keyId: 'https://issuer.example.com#alice',
    tenantId: 'acme',
    agentId: 'own',
    agents: ['team-*'],
    scopes: ['submit'],
  };
  const now = (more: object) => new ApiKeyStore(withConfig({ keys: base.keys, jwt: [rules(more)] })).current(stored);

  it('grants a stored principal the rights of its token, as far as its issuer may still grant them', () => {
    expect(now({ agents: ['team-*'], tools: ['echo'] })).toEqual({ ...stored, tools: ['echo'] });
    expect(now({ scopes: ['read'] })?.scopes).toEqual([]);
    expect(now({ tenantClaim: undefined, tenant: 'rival' })).toBeUndefined();
  });

  it('loses a stored principal when the issuer may not speak for its tenant any more', () => {
    expect(now({ tenants: ['acme*'] })?.tenantId).toBe('acme');
    expect(now({ tenants: ['rival'] })).toBeUndefined();
  });

  it('grants a stored principal no further agent that its issuer may not grant now', () => {
    expect(now({})?.agents).toBeUndefined();
    expect(now({ agents: ['team-a'] })?.agents).toEqual(['team-a']);
  });
});

describe('the stored principal of a login, where tokens are of the same issuer', () => {
  const issuer = 'https://issuer.example.com';
  const jwt = [
    JwtIssuer.parse({ issuer, audience: 'toolyard', jwks: { keys: [{ kty: 'EC' }] }, tenant: 'acme', scopes: ['submit', 'read'] }),
  ];
  const role: LoginSettings['roleMap'][string] = {
    tenant: 'acme',
    scopes: ['submit'],
    tools: ['file_*'],
    agents: ['team-*'],
    users: ['ada'],
  };
  const stored: Principal = {
    keyId: `${issuer}#ada`,
    tenantId: 'acme',
    scopes: ['submit', 'read'],
    tools: ['file_read', 'shell'],
    agents: ['team-a', 'other'],
    users: ['ada', '*'],
    person: { subject: 'ada' },
  };
  const now = (more: Partial<typeof role>) => {
    const login = LoginSettings.parse({ issuer, clientId: 'dashboard', roleMap: { watch: { ...role, ...more } } });
    return new ApiKeyStore(withConfig({ keys: base.keys, jwt, login })).current(stored);
  };

  it('grants the stored principal of a login its former rights within those of its roles, not those of tokens', () => {
    expect(now({})).toEqual({ ...stored, scopes: ['submit'], tools: ['file_read'], agents: ['team-a'], users: ['ada'] });
    expect(now({ tools: undefined })?.tools).toEqual(stored.tools);
    expect(now({ tools: ['!@files', 'shell'], agents: undefined })).toMatchObject({ tools: ['shell', '!@files'], agents: [] });
    expect(now({ tenant: 'rival' })).toBeUndefined();
  });
});

describe('a key ring whose keys change', () => {
  const entries = fc.record({
    tenant: fc.constantFrom('acme', 'rival'),
    scopes: fc.subarray<Scope>(['read', 'submit', 'cancel'], { minLength: 1 }),
    expiresAt: fc.constantFrom(undefined, '2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z'),
  });
  const laterEntries = fc.option(entries, { nil: undefined });

  it('keeps a principal active exactly while a new request with its key would get the same tenant and scope', () => {
    fc.assert(
      fc.property(entries, fc.array(laterEntries, { maxLength: 8 }), (first, later) => {
        const listed = (entry: typeof first | undefined): ApiKeyConfig[] => {
          if (entry === undefined) return [key('other')];
          const { expiresAt, ...rest } = entry;
          return [{ ...key('held'), ...rest, ...(expiresAt === undefined ? {} : { expiresAt }) }];
        };
        const ring = new ApiKeyStore(withConfig({ keys: listed(first) }));
        const principal = ring.authenticate('the-held-key-of-acme');
        if (principal === undefined) return;
        let lost = 0;
        let shouldBeLost = false;
        ring.watch(principal, 'read', () => (lost += 1));
        for (const entry of [first, ...later]) {
          ring.replace(listed(entry));
          const fresh = ring.authenticate('the-held-key-of-acme');
          const mayRead = fresh?.tenantId === principal.tenantId && fresh.scopes.includes('read');
          shouldBeLost ||= !mayRead;
          expect(ring.rejection(principal, 'read') === undefined).toBe(mayRead);
          expect(ring.current(principal)).toBe(fresh?.tenantId === principal.tenantId ? fresh : undefined);
          expect(lost).toBe(shouldBeLost ? 1 : 0);
        }
      }),
    );
  });
});

describe('places of open sockets', () => {
  const LIMITS = { perKey: 2, perTenant: 3, perAddress: 4, unauthenticated: 1 };
  const PRINCIPALS = ['a', 'b', 'c'].map((name): Pick<Principal, 'keyId' | 'tenantId'> => ({
    keyId: name,
    tenantId: name === 'c' ? 'rival' : 'acme',
  }));
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('open', 'authenticate', 'release'),
      address: fc.constantFrom('1.1.1.1', '2.2.2.2'),
      who: fc.option(fc.constantFrom(...PRINCIPALS), { nil: undefined }),
      which: fc.nat(7),
    }),
    { maxLength: 60 },
  );

  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the two fields that are read of a request
  const from = (remoteAddress: string) => ({ socket: { remoteAddress }, headers: {} }) as IncomingMessage;

  it('opens sockets up to the smallest limit, and counts them off when they close', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const sockets = new OpenSockets({ sockets: LIMITS, trustedProxies: () => false });
        const open: { place: SocketReservation; address: string; who: (typeof PRINCIPALS)[number] | undefined }[] = [];
        const isFull = (address: string, who: (typeof PRINCIPALS)[number] | undefined, others: typeof open) => {
          const count = (fits: (one: (typeof open)[number]) => boolean) => others.filter(fits).length;
          if (count((one) => one.address === address) >= LIMITS.perAddress) return true;
          if (who === undefined) return count((one) => one.address === address && one.who === undefined) >= LIMITS.unauthenticated;
          return (
            count((one) => one.who?.keyId === who.keyId) >= LIMITS.perKey ||
            count((one) => one.who?.tenantId === who.tenantId) >= LIMITS.perTenant
          );
        };
        for (const { what, address, who, which } of all) {
          const one = open[which % Math.max(1, open.length)];
          if (what === 'open') {
            const full = isFull(address, who, open);
            try {
              open.push({ place: sockets.open(from(address), who), address, who });
              expect(full).toBe(false);
            } catch (error) {
              if (!(error instanceof ProblemError)) throw error;
              expect([full, error.code]).toEqual([true, 'too_many_requests']);
            }
          } else if (one !== undefined && what === 'release') {
            one.place.release();
            one.place.release();
            open.splice(open.indexOf(one), 1);
          } else if (one !== undefined && who !== undefined) {
            const others = open.filter((other) => other !== one);
            const refused = one.place.authenticate(who) !== undefined;
            expect(refused).toBe(isFull(one.address, who, others));
            if (!refused) one.who = who;
          }
        }
        for (const { place } of open) place.release();
        for (let n = 0; n < LIMITS.perKey; n += 1) sockets.open(from('1.1.1.1'), PRINCIPALS[0]);
      }),
    );
  });
});

describe('a token bucket', () => {
  it('gives at most burst plus refill from a token bucket, and never more than the burst at once', () => {
    const waits = fc.array(fc.nat(3000), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), waits, (burst, perSecond, times) => {
        const bucket = new TokenBucket(burst, perSecond, 0);
        let now = 0;
        let taken = 0;
        for (const wait of times) {
          now += wait;
          if (bucket.take(now)) taken += 1;
        }
        expect(taken).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6);
        for (let n = 0; n < burst; n += 1) expect(bucket.take(now + 60_000)).toBe(true);
        expect(bucket.take(now + 60_000)).toBe(false);
      }),
    );
  });
});

describe('tool patterns of a key', () => {
  const named = (name: string, source = 'builtin') => ({ name, aliases: [], source });

  it('allows a key the tools of its patterns, and all tools without patterns', () => {
    expect(isToolAllowed({}, named('shell'))).toBe(true);
    expect(isToolAllowed({ tools: ['file_*', 'echo'] }, named('file_read'))).toBe(true);
    expect(isToolAllowed({ tools: ['file_*', 'echo'] }, named('echo'))).toBe(true);
    expect(isToolAllowed({ tools: ['file_*', 'echo'] }, named('shell'))).toBe(false);
    expect(isToolAllowed({ tools: [] }, named('echo'))).toBe(false);
  });

  it('matches tools by @source and @source/name, also under a qualified name', () => {
    const issue = { name: 'tracker__create_issue', aliases: [], source: 'tracker' };
    expect(isToolAllowed({ tools: ['@tracker'] }, issue)).toBe(true);
    expect(isToolAllowed({ tools: ['@tracker/create_*'] }, issue)).toBe(true);
    expect(isToolAllowed({ tools: ['@tracker/delete_*', '@other'] }, issue)).toBe(false);
    expect(isToolAllowed({ tools: ['!@tracker'] }, issue)).toBe(false);
  });

  it('forbids each tool that any of several negations matches', () => {
    for (const tools of [
      ['!shell', '!file_write'],
      ['*', '!file_write', '!shell'],
      ['!shell', 'file_*', 'echo', '!file_write'],
    ]) {
      const allowed = (name: string) => isToolAllowed({ tools }, named(name));
      expect([tools, allowed('shell'), allowed('file_write'), allowed('file_read'), allowed('echo')]).toEqual([
        tools,
        false,
        false,
        true,
        true,
      ]);
    }
  });

  it('forbids every tool if a negation is no valid pattern', () => {
    expect(isToolAllowed({ tools: ['*', '!file_[!r]*'] }, named('echo'))).toBe(false);
  });

  it('forbids a tool also under its qualified name, which it has beside another source’s tool', () => {
    for (const pattern of ['!create_issue', '!create_*', '!tracker__*']) {
      expect(isToolAllowed({ tools: [pattern] }, { name: 'create_issue', aliases: ['tracker__create_issue'], source: 'tracker' })).toBe(
        false,
      );
      expect(isToolAllowed({ tools: [pattern] }, { name: 'tracker__create_issue', aliases: [], source: 'tracker' })).toBe(false);
    }
    expect(isToolAllowed({ tools: ['!switch*'] }, named('switch_to_execution'))).toBe(false);
    expect(isToolAllowed({ tools: ['create_issue'] }, { name: 'tracker__create_issue', aliases: [], source: 'tracker' })).toBe(false);
  });
});

describe('the origin policy', () => {
  const refused = (policy: OriginPolicy, host: string, origin?: string) => policy.rejectionReason({ host, origin }) !== undefined;

  it('answers only loopback host names on loopback, against DNS rebinding', () => {
    const policy = new OriginPolicy(withConfig({ allowedHosts: ['tools.local'] }));
    for (const host of ['127.0.0.1:7411', 'localhost', 'LOCALHOST:1', '[::1]:7411', 'tools.local:80'])
      expect([host, refused(policy, host)]).toEqual([host, false]);
    for (const host of ['evil.example', 'evil.example:7411', 'localhost.evil.example', '', '127.0.0.1.evil.example'])
      expect([host, refused(policy, host)]).toEqual([host, true]);
  });

  it('answers to any name when bound elsewhere unless names are configured', () => {
    expect(refused(new OriginPolicy(withConfig({ host: '0.0.0.0' })), 'tools.example')).toBe(false);
    const named = new OriginPolicy(withConfig({ host: '0.0.0.0', allowedHosts: ['tools.example'] }));
    expect([refused(named, 'tools.example:443'), refused(named, 'other.example')]).toEqual([false, true]);
  });

  it('accepts browsers from the same host or a configured origin only', () => {
    const policy = new OriginPolicy(withConfig({ allowedOrigins: ['https://dash.example'] }));
    const from = (origin: string) => refused(policy, 'localhost:7411', origin);
    expect([from('http://localhost:7411'), from('https://dash.example')]).toEqual([false, false]);
    for (const origin of ['http://localhost:7412', 'https://evil.example', 'null', 'http://localhost:7411.evil.example'])
      expect([origin, from(origin)]).toEqual([origin, true]);
  });
});
