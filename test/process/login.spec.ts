import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPair, type JWTPayload } from 'jose';
import { JwtIssuer, LoginSettings, type ApiKey, type IssuedKey, type Me } from '#contracts';
import { createRedis } from '#redis';
import { Authenticator } from '../../apps/gateway/src/auth/authenticator.service.js';
import { readGatewayConfig, type GatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { Agent } from '../support/agent.js';
import { CLIENT_ID, CLIENT_SECRET, TestLoginProvider } from '../support/login-provider.js';
import { CookieJar, follow, Page, socketOf, visit } from '../support/signing-in.js';

const TENANT = 'login';
const ADA = { sub: 'ada-1', name: 'Ada Example', email: 'ada@example.com', email_verified: true, roles: ['operators'] };
const CALLBACK = /\/v1\/login\/callback/;
const COOKIE = 'toolyard-login';

let provider: TestLoginProvider;
let gateways: readonly TestGateway[];
let settings: LoginSettings;
let origin: string;
let config: GatewayConfig;

const settingsOf = (more: object = {}) => ({
  ...LoginSettings.parse({
    name: 'Example',
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    clientSecret: { secretEnv: 'LOGIN_SECRET' },
    scopes: ['openid', 'profile', 'email', 'roles'],
    baseUrl: origin,
    roleMap: {
      operators: { tenant: TENANT, scopes: ['submit', 'read', 'approve'] },
      admins: { tenant: TENANT, scopes: ['read', 'admin'] },
      elsewhere: { tenant: 'login-elsewhere', scopes: ['read'] },
    },
  }),
  ...more,
});

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  provider = await TestLoginProvider.start([`${origin}/v1/login/callback`]);
  settings = settingsOf();
  config = readGatewayConfig({ TOOLYARD_API_KEY: BOOTSTRAP_KEY });
  config = { ...config, keys: config.keys.map((key) => ({ ...key, tenant: TENANT })) };
  const more = { startTimeoutMs: 60_000, login: settings, env: { LOGIN_SECRET: CLIENT_SECRET }, fourEyes: true };
  const first = await startTestGateway(TENANT, { ...more, port });
  gateways = [first, await startTestGateway(TENANT, { ...more, allowedOrigins: [origin] })];
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await provider.close();
});

beforeEach(() => {
  provider.person = ADA;
});
afterEach(() => {
  provider.tamper = undefined;
  provider.isAway = false;
});

const signIn = async (jar = new CookieJar(), returnTo = '/approvals'): Promise<Page> => {
  const { url } = await follow(jar, `${origin}/v1/login?returnTo=${encodeURIComponent(returnTo)}`, /\/approvals$/);
  expect(url).toBe(origin + returnTo);
  return new Page(jar, origin);
};
/** The address with which the provider sends the browser back; it is not opened yet. */
const comeBack = async (jar: CookieJar) => (await follow(jar, `${origin}/v1/login`, CALLBACK)).url;
const secretOf = (jar: CookieJar) => /toolyard-login=([^;]+)/.exec(jar.of(origin))?.[1] ?? '';
const first = () => gateways[0] as TestGateway;
/** Asks for something that a person must allow. */
const question = async () => {
  const agent = new Agent(origin, BOOTSTRAP_KEY);
  await agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
  return (await agent.submit('shell', { command: 'git push' }, { sessionId: 'careful' })).body;
};
const ALLOW = { decision: 'allow', scope: 'once' };

describe('a person who signs in', () => {
  it('approves a call by a person who signed in, and names the person in the decision and the log', async () => {
    const call = await question();
    const page = await signIn();
    const { body: me } = await page.get<Me>('/v1/me');
    expect(me).toMatchObject({
      keyId: `${provider.issuer}#ada-1`,
      tenantId: TENANT,
      scopes: ['submit', 'read', 'approve'],
      person: { subject: 'ada-1', name: 'Ada Example', email: 'ada@example.com' },
      login: { roles: ['operators'] },
    });
    expect((await page.request('POST', `/v1/calls/${call.id}/decision`, ALLOW)).status).toBe(200);
    const decided = (await first().agent.get(`/v1/calls/${call.id}`)).body.approval?.decided;
    expect(decided).toMatchObject({ by: `apikey:${provider.issuer}#ada-1`, byName: 'Ada Example <ada@example.com>' });
    const events = await first().agent.events(call.id);
    expect(events.find(({ type }) => type === 'call.approval_decided')).toMatchObject({ actorname: 'Ada Example <ada@example.com>' });
    expect(events.find(({ type }) => type === 'call.submitted')).not.toHaveProperty('actorname');
    await first().run(call.id);
  });

  it('refuses a person the approval of a call of their own key, under four eyes', async () => {
    const page = await signIn();
    const { body } = await page.request<{ id: string }>('POST', '/v1/calls', {
      tool: 'shell',
      arguments: { command: 'git push' },
      sessionId: 'careful',
    });
    const { status, body: problem } = await page.request('POST', `/v1/calls/${body.id}/decision`, ALLOW);
    expect([status, problem.detail]).toEqual([403, expect.stringContaining('Four eyes')]);
    expect((await page.request('POST', `/v1/calls/${body.id}/decision`, { decision: 'deny', scope: 'once' })).status).toBe(200);
  });

  it('serves pages and the stream for the cookie alone, which no script can read', async () => {
    const jar = new CookieJar();
    const back = await comeBack(jar);
    const cookies = (await visit(jar, back)).headers.getSetCookie();
    expect(cookies[0]).toMatch(/^toolyard-login=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(cookies[1]).toBe('toolyard-login-begun=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0');
    expect((await new Page(jar, origin).get('/v1/login/options')).body).toMatchObject({ signedIn: true, provider: { name: 'Example' } });
    expect((await socketOf(jar, origin, origin)).op).toBe('ready');
    expect((await socketOf(jar, origin, 'http://127.0.0.1:1')).op).toBe('refused');
    expect((await socketOf(jar, origin, undefined)).op).toBe('error');
  });

  it('ends a login on all gateways after signing out on one, with its open sockets', async () => {
    const page = await signIn();
    const [, other] = gateways;
    const elsewhere = new Page(page.jar, origin, other?.url);
    expect(await elsewhere.status()).toBe(200);
    const open = await socketOf(page.jar, origin, origin);
    const events = await fetch(`${origin}/v1/events`, { headers: { cookie: page.jar.of(origin) } });
    expect(events.status).toBe(200);
    const copy = new CookieJar();
    copy.take(origin, new Response(null, { headers: { 'set-cookie': `${COOKIE}=${secretOf(page.jar)}` } }));
    const { status, body } = await page.request<{ providerUrl?: string }>('POST', '/v1/logout');
    expect([status, body.providerUrl]).toEqual([200, expect.stringContaining(provider.issuer)]);
    expect(secretOf(page.jar)).toBe('');
    expect(await open.closed).toBe(4001);
    expect(await events.text()).toContain(': unauthenticated');
    expect(await new Page(copy, origin).status()).toBe(401);
    expect(await new Page(copy, origin, other?.url).status()).toBe(401);
    expect((await page.request('POST', '/v1/logout')).status).toBe(200);
  });

  it("shows a person's logins to an administrator, who ends all of them", async () => {
    const [page, again] = [await signIn(), await signIn()];
    const { body } = await first().agent.get<{ logins: { person: { subject: string } }[] }>('/v1/logins');
    expect(body.logins.filter(({ person }) => person.subject === 'ada-1').length).toBeGreaterThanOrEqual(2);
    expect((await page.request('POST', '/v1/logins/end', { subject: 'ada-1' })).status).toBe(403);
    const { body: answer } = await first().agent.request<{ ended: number }>('POST', '/v1/logins/end', { subject: 'ada-1' });
    expect(answer.ended).toBeGreaterThanOrEqual(2);
    expect([await page.status(), await again.status()]).toEqual([401, 401]);
    expect((await first().agent.get<{ logins: unknown[] }>('/v1/logins')).body.logins).toEqual([]);
  });

  it('revokes the keys that a person created, and those created with these, on request of an administrator', async () => {
    provider.person = { ...ADA, sub: 'eve-1', roles: ['admins'] };
    const make = async (by: Agent | Page) =>
      (await by.request<{ id: string; key: string }>('POST', '/v1/keys', { name: 'of a program', scopes: ['read', 'admin'] })).body;
    const own = await make(await signIn());
    const [below, another] = [await make(new Agent(first().url, own.key)), await make(first().agent)];
    expect((await first().agent.get(`/v1/keys/${own.id}`)).body).toMatchObject({
      createdBy: `${provider.issuer}#eve-1`,
      createdByName: 'Ada Example <ada@example.com>',
    });
    expect((await first().agent.get(`/v1/keys/${below.id}`)).body).toMatchObject({ createdBy: own.id, createdByName: 'of a program' });
    const end = async (keys: boolean) => (await first().agent.request('POST', '/v1/logins/end', { subject: 'eve-1', keys })).body;
    const status = async ({ key }: { key: string }) => (await new Agent(first().url, key).get('/v1/whoami')).status;
    expect([await end(false), await status(own)]).toEqual([{ ended: 1 }, 200]);
    expect(await end(true)).toEqual({ ended: 0, keysRevoked: [own.id, below.id].toSorted() });
    expect(await Promise.all([own, below, another].map(status))).toEqual([401, 401, 200]);
  });

  it('deletes a login key created while the keys of the person were revoked', async () => {
    provider.person = { ...ADA, sub: 'mallory-1', roles: ['admins'] };
    const { body: key } = await (await signIn()).request<IssuedKey>('POST', '/v1/keys', { name: 'first', scopes: ['admin'] });
    const mine = ({ createdBy }: ApiKey) => createdBy === key.id;
    const active = async () => {
      const { keys } = (await first().agent.get<{ keys: ApiKey[] }>('/v1/keys')).body;
      return keys.filter((key) => mine(key) && key.status === 'active');
    };
    const makers = gateways.map(({ url }) => new Agent(url, key.key));
    // Makes keys until a rejection.
    const makeAll = async (maker: Agent) => {
      while ((await maker.request('POST', '/v1/keys', { name: 'more', scopes: ['admin'] })).status < 300);
    };
    const making = makers.flatMap((maker) => Array.from({ length: 4 }, () => makeAll(maker)));
    await eventually(async () => (await active()).length > 8, 'keys to be made');
    await first().agent.request('POST', '/v1/logins/end', { subject: 'mallory-1', keys: true });
    await Promise.all(making);
    expect(await active()).toEqual([]);
  });

  it('removes the rights of a role when the provider removes the role, and the login without any role', async () => {
    await withSettings({ recheckMs: 0 }, async () => {
      provider.person = { ...ADA, roles: ['operators', 'admins'] };
      const page = await signIn();
      expect(await page.status('/v1/keys')).toBe(200);
      const open = await socketOf(page.jar, origin, origin);
      provider.person = ADA;
      expect(await page.status('/v1/keys')).toBe(403);
      expect(await open.closed).toBe(4001);
      provider.isAway = true;
      expect(await page.status()).toBe(200);
      provider.isAway = false;
      const other = await signIn();
      provider.person = { ...ADA, roles: [] };
      expect(await other.status()).toBe(401);
    });
  });

  it('removes the rights of a role when the settings change', async () => {
    const page = await signIn();
    const narrower = { operators: { tenant: TENANT, scopes: ['read' as const] } };
    await withSettings({ roleMap: narrower }, async () => {
      expect((await page.get<Me>('/v1/me')).body.scopes).toEqual(['read']);
    });
    const elsewhere = { operators: { tenant: 'login-elsewhere', scopes: ['read' as const] } };
    for (const changed of [{ clientId: 'another' }, { issuer: 'http://127.0.0.1:1' }, { roleMap: elsewhere }])
      await withSettings(changed, async () => expect(await page.status()).toBe(401));
    await withSettings(undefined, async () => expect(await page.status()).toBe(401));
    expect(await page.status()).toBe(200);
  });

  it('limits a person to the tools of the role in a batch, also beside programs with tokens of the same provider', async () => {
    const roleMap = { operators: { tenant: TENANT, scopes: ['submit' as const, 'read' as const], tools: ['file_read'] } };
    const jwt = JwtIssuer.parse({
      issuer: provider.issuer,
      audience: 'programs',
      jwks: { keys: [{ kty: 'EC' }] },
      tenant: TENANT,
      scopes: ['submit'],
    });
    await withSettings(
      { roleMap },
      async () => {
        const page = await signIn();
        const calls = [{ tool: 'shell', arguments: { command: 'id' } }];
        const batch = await page.request<{ results: object[] }>(
          'POST',
          '/v1/batches',
          { onFailure: 'isolate', calls },
          { prefer: 'wait=20' },
        );
        expect(batch.body.results).toMatchObject([{ error: { code: 'policy_denied' } }]);
      },
      [jwt],
    );
  });

  it('asks a person to sign in again when the login is too old or was not used', async () => {
    const page = await signIn();
    const redis = createRedis(first().redisUrl);
    const [key = ''] = await redis.keys(`{logins}:login:*`).then(async (all) => {
      const texts = await Promise.all(all.map((name) => redis.get(name)));
      return all.filter((_, index) => texts[index]?.includes('ada-1'));
    });
    const stored = key + (await redis.get(key));
    expect(stored).not.toContain(secretOf(page.jar));
    expect(stored).not.toContain(provider.refreshTokens.at(-1));
    expect(await redis.pttl(key)).toBeLessThanOrEqual(settings.idleMs);
    for (const name of await redis.keys('{logins}:login:*')) {
      const record = JSON.parse((await redis.get(name)) ?? '{}') as object;
      await redis.set(name, JSON.stringify({ ...record, endsAt: Date.now() - 1 }), 'KEEPTTL');
    }
    redis.disconnect();
    expect(await page.status()).toBe(401);
  });
});

describe('a login is refused', () => {
  const refused = async (url: string, jar: CookieJar) => {
    const response = await visit(jar, url);
    const text = await response.text();
    expect(jar.of(origin)).not.toMatch(/toolyard-login=/);
    return { status: response.status, text };
  };

  /** The status with which a login of a browser without cookies is refused. */
  const refusal = async () => {
    const jar = new CookieJar();
    return (await refused(await comeBack(jar), jar)).status;
  };

  it('refuses a login for a state that another browser began, and for one that was used', async () => {
    const [victim, attacker] = [new CookieJar(), new CookieJar()];
    expect((await refused(await comeBack(attacker), victim)).status).toBe(401);
    // Rejected even if the browser has begun a login of its own.
    await comeBack(victim);
    expect((await refused(await comeBack(attacker), victim)).status).toBe(401);
    const jar = new CookieJar();
    const asked = (await visit(jar, `${origin}/v1/login`)).headers.get('location') ?? '';
    const back = (await follow(jar, asked, CALLBACK)).url;
    const before = jar.of(origin);
    expect((await visit(jar, back)).status).toBe(302);
    const copy = new CookieJar();
    copy.take(origin, new Response(null, { headers: { 'set-cookie': before } }));
    // Rejected even with an unused code.
    expect((await refused((await follow(jar, asked, CALLBACK)).url, copy)).status).toBe(401);
  });

  it('refuses a login with a code of another login, which lacks its verifier', async () => {
    const [jar, other] = [new CookieJar(), new CookieJar()];
    const [mine, theirs] = [new URL(await comeBack(jar)), new URL(await comeBack(other))];
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    expect((await refused(mine.href, jar)).status).toBe(401);
  });

  it('refuses a login for an answer that names another issuer', async () => {
    const jar = new CookieJar();
    const url = new URL(await comeBack(jar));
    url.searchParams.set('iss', 'https://evil.example.com');
    expect((await refused(url.href, jar)).status).toBe(401);
  });

  const inPast = Math.floor(Date.now() / 1000) - 3_600;
  const wrong: [string, JWTPayload][] = [
    ['another nonce', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['another audience', { aud: 'another' }],
    ['an expiry in the past', { exp: inPast, iat: inPast - 60 }],
    ['a subject that names no one', { sub: '{}' }],
  ];
  it.each(wrong)('refuses a login for an ID token with %s', async (_what, changed) => {
    provider.tamper = (claims, sign) => sign({ ...claims, ...changed });
    expect(await refusal()).toBe(401);
  });

  it('refuses a login for an ID token that is not signed, or with another key', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    provider.tamper = (claims) => Promise.resolve(`${part({ alg: 'none' })}.${part(claims)}.`);
    expect(await refusal()).toBe(401);
    const { privateKey } = await generateKeyPair('RS256');
    provider.tamper = (claims, sign) => sign(claims, privateKey);
    expect(await refusal()).toBe(401);
  });

  it('refuses a login of a person without a role that counts, and names the roles that would', async () => {
    provider.person = { ...ADA, name: '<b>Ada\u202e</b>', roles: ['guests'] };
    const jar = new CookieJar();
    const { status, text } = await refused(await comeBack(jar), jar);
    expect(status).toBe(403);
    expect(text).toContain(
      'bAda/b &#60;ada@example.com&#62; has the roles guests. One of these is needed here: operators, admins, elsewhere',
    );
  });

  it('refuses a login of a person of another domain, or without a verified address', async () => {
    await withSettings({ allowedDomains: ['example.org'] }, async () => {
      expect(await refusal()).toBe(403);
      provider.person = { ...ADA, email: 'ada@example.org', email_verified: false };
      expect(await refusal()).toBe(403);
    });
  });

  it.each(['https://evil.example.com', '//evil.example.com', '/\\evil.example.com', '/v1/logout', 'approvals', '/a b'])(
    'refuses a login that would return to %s',
    async (returnTo) => {
      const { status, body } = await new Page(new CookieJar(), origin).get(`/v1/login?returnTo=${encodeURIComponent(returnTo)}`);
      expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/returnTo']);
    },
  );

  it('refuses a login while the provider is away; keys work', async () => {
    await withSettings({ clientSecret: undefined, clientId: 'not-read-yet' }, async () => {
      provider.isAway = true;
      const { status, body } = await new Page(new CookieJar(), origin).get('/v1/login');
      expect([status, body.code]).toEqual([503, 'unavailable']);
      expect((await first().agent.get('/v1/whoami')).status).toBe(200);
    });
  });

  it('refuses a login without configuration', async () => {
    await withSettings(undefined, async () => {
      const page = new Page(new CookieJar(), origin);
      expect((await page.get('/v1/login')).status).toBe(501);
      expect((await page.get('/v1/login/options')).body).toEqual({ signedIn: false });
    });
  });
});

describe('the cookie of a login', () => {
  it('replaces any earlier cookie of a login when the person signs in', async () => {
    const jar = new CookieJar();
    const fixed = 'A'.repeat(43);
    jar.take(origin, new Response(null, { headers: { 'set-cookie': `${COOKIE}=${fixed}` } }));
    const page = await signIn(jar);
    const before = secretOf(jar);
    expect(before).not.toBe(fixed);
    await signIn(jar);
    expect(await page.status()).toBe(200);
    const old = new CookieJar();
    old.take(origin, new Response(null, { headers: { 'set-cookie': `${COOKIE}=${before}` } }));
    expect(await new Page(old, origin).status()).toBe(401);
  });

  it.each([
    ['another origin', { origin: 'https://evil.example.com' }],
    ['no origin', { origin: undefined }],
    ['the origin null', { origin: 'null' }],
    ['no header of ours', { 'x-toolyard-request': undefined }],
    ['another site', { 'sec-fetch-site': 'same-site' }],
    ['a form of another site', { origin: 'https://evil.example.com', 'content-type': 'application/x-www-form-urlencoded' }],
    ['a text of another site', { origin: 'https://evil.example.com', 'content-type': 'text/plain', 'x-toolyard-request': undefined }],
  ])('ignores the cookie of a login in a request with %s', async (_what, headers) => {
    const page = await signIn();
    const { status, body } = await page.request('POST', '/v1/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V/decision', ALLOW, headers);
    expect([status, body.code]).toEqual([403, 'origin_refused']);
    expect((await page.request('POST', '/v1/logout', undefined, headers)).status).toBe(403);
    expect(await page.status()).toBe(200);
  });

  it('ignores a duplicate cookie of a login', async () => {
    const page = await signIn();
    const twice = { cookie: `${COOKIE}=${secretOf(page.jar)}; ${COOKIE}=${'A'.repeat(43)}` };
    expect((await page.request('GET', '/v1/me', undefined, twice)).status).toBe(401);
  });
});

/** Runs with other settings on all gateways. */
async function withSettings(more: object | undefined, run: () => Promise<void>, issuers: readonly JwtIssuer[] = []): Promise<void> {
  const replace = (login: LoginSettings | undefined, jwt: readonly JwtIssuer[] = []) => {
    for (const { app } of gateways) app.get(Authenticator).replace(config.keys, jwt, login);
  };
  replace(more && settingsOf(more), issuers);
  try {
    await run();
  } finally {
    replace(settings);
  }
}
