import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT, type JWTPayload } from 'jose';
import { WebSocket } from 'ws';
import { CLOSE_CODES, JwtIssuer, type Batch, type Call, type Principal, type Problem, type ProtectedResource } from '#contracts';
import { readGatewayConfig, type GatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { openSse } from '../support/sse.js';
import { TokenIssuer } from '../support/token-issuer.js';

const TENANT = 'jwt';
const inSeconds = (n: number) => Math.floor(Date.now() / 1_000) + n;

describe('JWTs as bearer tokens', () => {
  let issuer: TokenIssuer;
  let limited: TokenIssuer;
  let strict: TokenIssuer;
  let gateway: TestGateway;
  let issuers: readonly JwtIssuer[];

  beforeAll(async () => {
    issuer = await TokenIssuer.start('https://issuer.example.com', 'toolyard');
    limited = await TokenIssuer.start('https://limited.example.com', 'toolyard');
    strict = await TokenIssuer.start('https://strict.example.com', 'toolyard', 'RS256');
    await Promise.all([issuer.useKeys('one'), limited.useKeys('one'), strict.useKeys('one')]);
    issuers = [
      rulesOf(issuer, { scopes: ['submit', 'read', 'cancel', 'work'], scopesClaim: 'scope', agentClaim: 'azp' }),
      rulesOf(limited, { ratePerMinute: 3, tenant: undefined, tenantClaim: 'org' }),
      rulesOf(strict, { cooldownMs: 600_000, refreshMs: undefined }),
    ];
    const base = readGatewayConfig({ TOOLYARD_API_KEY: BOOTSTRAP_KEY });
    const keys = base.keys.map((key) => ({ ...key, tenant: TENANT }));
    const read = (): GatewayConfig => ({ ...base, keys, jwt: issuers });
    gateway = await startTestGateway(TENANT, { jwt: issuers, file: { path: '/dev/null', read } });
  });
  afterAll(async () => {
    await gateway.close();
    await Promise.all([issuer.close(), limited.close(), strict.close()]);
  });

  const rulesOf = ({ issuer: name, audience, jwksUrl }: TokenIssuer, more: object): JwtIssuer =>
    JwtIssuer.parse({ issuer: name, audience, jwksUrl, tenant: TENANT, cooldownMs: 0, refreshMs: 1_000, clockToleranceMs: 0, ...more });
  const agentWith = async (claims: object = {}, kid = 'one') =>
    new Agent(gateway.url, await issuer.token(kid, { scope: 'submit read cancel', ...claims }));
  const whoami = (agent: Agent) => agent.get<Principal & Problem>('/v1/whoami');

  it('names the subject of a JWT in events, with agent and scopes of the token', async () => {
    const agent = await agentWith({ sub: 'alice', azp: 'deployer', scope: 'submit read admin' });
    expect((await whoami(agent)).body).toMatchObject({
      keyId: 'https://issuer.example.com#alice',
      tenantId: TENANT,
      agentId: 'deployer',
      scopes: ['submit', 'read'],
    });
    const { body: call } = await agent.submit('echo', {});
    await gateway.run(call.id);
    expect((await agent.ended(call.id)).agentId).toBe('deployer');
    expect((await agent.events(call.id))[0]).toMatchObject({ actor: 'apikey:https://issuer.example.com#alice' });
    const schedule = { everyMs: 60_000, call: { tool: 'echo' } };
    expect((await agent.request('POST', '/v1/schedules', schedule)).status).toBe(403);
  });

  it('refuses a JWT with the reason when a claim is wrong, also at the upgrade to a WebSocket', async () => {
    const { status, body, headers } = await whoami(await agentWith({ aud: 'other' }));
    expect([status, body.detail]).toEqual([401, expect.stringContaining('expected toolyard')]);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="toolyard", error="invalid_token"');
    const stranger = await TokenIssuer.start('https://stranger.example.com', 'toolyard');
    const token = await stranger.token('one');
    await stranger.close();
    expect((await whoami(new Agent(gateway.url, token))).body.detail).toContain('not trusted');
    await expect(new Agent(gateway.url, token).stream()).rejects.toThrow('401');
    await expect(ScriptedWorker.open(gateway.url, token)).rejects.toThrow('401');
  });

  it('accepts the JWT of an auth frame, and handles the frames sent with it afterwards', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/stream`);
    const frames: { op: string; id?: number }[] = [];
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as { op: string }));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ op: 'auth', token: await issuer.token('one', { scope: 'read', sub: 'frame' }) }));
    for (let id = 1; id <= 20; id++) socket.send(JSON.stringify({ op: 'ping', id }));
    await eventually(() => frames.length === 21, 'all answers');
    expect(frames.map(({ op, id }) => id ?? op)).toEqual(['ready', ...Array.from({ length: 20 }, (_, n) => n + 1)]);
    socket.terminate();
  });

  describe('when one expires', () => {
    let asker: Agent;
    let call: Call;
    let first = '';
    let batchId = '';
    const result = (n: number) =>
      eventually(async () => (await gateway.agent.get<Batch>(`/v1/batches/${batchId}`)).body.results[n]?.callId, 'a call of the batch');
    beforeAll(async () => {
      asker = await agentWith({ sub: 'asker', exp: inSeconds(12) });
      await gateway.agent.request('PUT', '/v1/sessions/jwt-asks', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
      call = (await asker.submit('shell', { command: 'date' }, { sessionId: 'jwt-asks' })).body;
      const calls = [{ tool: 'echo' }, { tool: 'echo' }];
      batchId = (await asker.request<Batch>('POST', '/v1/batches', { strategy: { type: 'sequential' }, calls })).body.id;
      first = await result(0);
    });

    it('ends WebSockets, event streams, foreign workers and waits when their JWT expires', async () => {
      const exp = inSeconds(12);
      const agent = await agentWith({ sub: 'brief', exp, scope: 'submit read work' });
      const { body: brief } = await agent.submit('echo', {}, { sessionId: 'brief' });
      const waiting = agent.get<Problem>(`/v1/calls/${brief.id}?wait=60`);
      const [stream, sse, worker] = await Promise.all([
        agent.stream(),
        openSse(`${gateway.url}/v1/events`, agent.key),
        ScriptedWorker.ready(gateway.url, agent.key, 'brief', [ADD]),
      ]);
      await eventually(() => stream.closed && sse.ended() && worker.closed, 'all of them to end');
      expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
      expect(stream.closed?.code).toBe(CLOSE_CODES.unauthenticated);
      expect(sse.text()).toContain(': unauthenticated: The token has expired');
      expect((await waiting).status).toBe(401);
      expect((await whoami(agent)).body.detail).toContain('has expired');
    });

    it('continues an approval and a batch with the rights of an expired JWT', async () => {
      expect(call.status).toBe('waiting_approval');
      await eventually(async () => (await whoami(asker)).status === 401, 'the end of the token');
      const decision = await gateway.agent.request('POST', `/v1/calls/${call.id}/decision`, { decision: 'allow', scope: 'once' });
      expect(decision.status).toBe(200);
      expect((await gateway.agent.get(`/v1/calls/${call.id}`)).body.status).toBe('queued');
      await gateway.run(first);
      await gateway.run(await result(1));
    });
  });

  it('finds a new key of the issuer at once, and forgets a removed one', async () => {
    expect((await whoami(await agentWith({ sub: 'r1' }, 'one'))).status).toBe(200);
    await issuer.useKeys('one', 'two');
    expect((await whoami(await agentWith({ sub: 'r2' }, 'two'))).status).toBe(200);
    // Different tokens, since a verified one is cached for a while.
    const old = await Promise.all(Array.from({ length: 300 }, (_, n) => issuer.token('one', { jti: String(n) })));
    await issuer.useKeys('two');
    await eventually(async () => {
      expect((await whoami(await agentWith({ sub: 'r3', jti: String(old.length) }, 'two'))).status).toBe(200);
      return (await whoami(new Agent(gateway.url, old.pop() ?? ''))).status === 401;
    }, 'the old key to be forgotten');
    await issuer.useKeys('one', 'two');
  });

  it('refuses a hostile token, asks no place that it names, and does not ask its issuer again', async () => {
    const statusOf = async (token: string) => (await whoami(new Agent(gateway.url, token))).status;
    const evil = await TokenIssuer.start('https://evil.example.com', 'toolyard', 'RS256');
    await evil.useKeys('evil');
    const [{ pem, jwk }, { jwk: evilKey }] = await Promise.all([strict.publicKey('one'), evil.publicKey('evil')]);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const shared = (secret: string, alg = 'HS256') =>
      new SignJWT(strict.claims()).setProtectedHeader({ alg, kid: 'one' }).sign(Buffer.from(secret));
    const unsigned = (alg: unknown, signature: string) => `${part({ alg, kid: 'one' })}.${part(strict.claims())}.${signature}`;
    const claim = (claims: object) => strict.token('one', claims as JWTPayload);
    // Signed with the key of another, as if the header said where to find it.
    const by = (header: object) => evil.token('evil', strict.claims(), { kid: 'one', ...header });
    expect([await statusOf(await strict.token('one')), await statusOf(await claim({ aud: ['other', 'toolyard'] }))]).toEqual([200, 200]);
    const before = strict.reads;
    const signed = await Promise.all([
      ...[pem, pem.trim(), JSON.stringify(jwk), jwk.n ?? ''].map((secret) => shared(secret)),
      shared(pem, 'HS512'),
      ...['k'.repeat(10_000), '../../../../dev/null', '{redis}', '__proto__', "one' or '1'='1", 1, null, ['one'], { kid: 'one' }].map(
        (kid) => by({ kid }),
      ),
      ...[{ jku: evil.jwksUrl }, { x5u: evil.jwksUrl }, { jwk: evilKey }, { x5c: [evilKey.n] }, { kid: evil.jwksUrl }].map(by),
      ...[['other'], [], 'toolyard ', ['toolyard,other'], { toolyard: true }].map((aud) => claim({ aud })),
      ...[[strict.issuer], `${strict.issuer}/`, issuer.issuer, { iss: strict.issuer }].map((iss) => claim({ iss })),
      ...[inSeconds(-60), '9999999999', null, -1].map((exp) => claim({ exp })),
      ...[inSeconds(60), '0'].map((nbf) => claim({ nbf })),
    ]);
    const [, ...rest] = (await strict.token('one')).split('.');
    const hostile = [
      ...signed,
      ...['none', 'None', 'NONE', '', null, ['RS256']].flatMap((alg) => [unsigned(alg, ''), unsigned(alg, 'eA')]),
      [part({ alg: 'RS256', kid: 'one', jku: evil.jwksUrl, crit: ['jku'] }), ...rest].join('.'),
    ];
    const refused = await Promise.all(hostile.map(statusOf));
    expect(refused.map((status, n) => (status === 401 ? '' : `${n}: ${status} ${hostile[n]?.slice(0, 80)}`)).filter(Boolean)).toEqual([]);
    // Each names another key, which the issuer could have by now.
    const unknown = async (n: number) => statusOf(await by({ kid: `unknown-${n}` }));
    for (let n = 0; n < 1_000; n += 50)
      expect(new Set(await Promise.all(Array.from({ length: 50 }, (_, m) => unknown(n + m))))).toEqual(new Set([401]));
    expect([strict.reads - before, evil.reads]).toEqual([0, 0]);
    await evil.close();
  });

  it('accepts a token with a known key while its issuer is slow', async () => {
    expect((await whoami(await agentWith({ sub: 'fast-before' }))).status).toBe(200);
    issuer.waiting = [];
    const slow = whoami(await agentWith({ sub: 'slow' }, 'never-there'));
    const held = await eventually(() => issuer.waiting?.[0], 'the issuer to be asked');
    expect((await whoami(await agentWith({ sub: 'fast' }))).status).toBe(200);
    issuer.waiting = undefined;
    held.destroy();
    expect((await slow).status).toBe(503);
    await eventually(async () => (await whoami(await agentWith({ sub: 'later' }, 'never-there'))).status === 401, 'it to answer again');
  });

  it('accepts known keys of an unreachable issuer, and answers 503 for unknown ones', async () => {
    expect((await whoami(await agentWith({ sub: 'before' }, 'two'))).status).toBe(200);
    issuer.isAway = true;
    expect((await whoami(await agentWith({ sub: 'known' }, 'two'))).status).toBe(200);
    const { status, body, headers } = await whoami(await agentWith({ sub: 'unknown' }, 'three'));
    expect([status, body.code, body.detail]).toEqual([503, 'unavailable', expect.stringContaining('https://issuer.example.com')]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const before = issuer.reads;
    await Promise.all(Array.from({ length: 10 }, async () => whoami(await agentWith({}, 'three'))));
    expect(issuer.reads - before).toBeLessThanOrEqual(1);
    expect((await whoami(await agentWith({ sub: 'still' }, 'two'))).status).toBe(200);
    issuer.isAway = false;
  });

  it('counts the requests of a JWT subject in its tenant, for any of its tokens', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) {
      const token = await limited.token('one', { sub: 'busy', org: TENANT, jti: String(n) });
      statuses.push((await whoami(new Agent(gateway.url, token))).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const statusOf = async (claims: Record<string, string>) =>
      (await whoami(new Agent(gateway.url, await limited.token('one', claims)))).status;
    expect(await statusOf({ sub: 'calm', org: TENANT })).toBe(200);
    expect(await statusOf({ sub: 'busy', org: `${TENANT}-neighbour` })).toBe(200);
  });

  it('points from the metadata of /mcp to the issuer, and answers a missing scope with insufficient_scope', async () => {
    const { body } = await gateway.agent.get<ProtectedResource>('/.well-known/oauth-protected-resource/mcp');
    expect(body.authorization_servers).toEqual([issuer.issuer, limited.issuer, strict.issuer]);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } };
    const reader = await agentWith({ scope: 'read' }, 'two');
    const refused = await reader.request('POST', '/mcp', call, { accept: 'application/json, text/event-stream' });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="submit"');
    const expired = await agentWith({ exp: inSeconds(-60) }, 'two');
    const unknown = await expired.request('POST', '/mcp', call);
    expect(unknown.headers.get('www-authenticate')).toContain('resource_metadata="');
  });

  it('ends open connections of a JWT when the config changes its issuer', async () => {
    const agent = await agentWith({ sub: 'open' }, 'two');
    const stream = await agent.stream();
    await stream.frame('ready');
    issuers = issuers.slice(1);
    process.emit('SIGHUP');
    expect((await eventually(() => stream.closed, 'the close')).code).toBe(CLOSE_CODES.unauthenticated);
    expect((await whoami(agent)).body.detail).toContain('not trusted');
  });
});
