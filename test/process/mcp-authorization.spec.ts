import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ALL_TENANTS,
  SourceDefinition,
  SourceSettings,
  type BeginSourceAuthorization,
  type Problem,
  type Source,
  type SourceAuthorizationRevoked,
  type SourcePage,
} from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { EgressPolicy } from '#sandbox';
import { SourceStore } from '#sources';
import { SourceConfigService } from '../../apps/gateway/src/governance/source-config.service.js';
import { startWorker, type RunningWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { Agent, type Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, sha256, startTestGateway } from '../support/gateway.js';
import type { TestLoginProvider } from '../support/login-provider.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { CookieJar, follow } from '../support/signing-in.js';
import { introspect, startIssuer, TokenProtectedServer } from '../support/token-protected-server.js';

const HOST = '127.0.0.1';
const SOURCE_TOKEN_KEY = 'key-of-source-tokens-in-the-tests-of-authorization';
const KEYS = {
  colleague: 'key-of-another-person-of-the-tenant',
  stranger: 'key-of-another-tenant-altogether',
  operator: 'key-of-the-operator-of-all-tenants',
};

/** An issuer, an MCP server that wants its tokens, a gateway and two workers with one slot each. */
describe('MCP sources that people authorize', () => {
  let issuer: TestLoginProvider;
  let server: TokenProtectedServer;
  let bridge: Bridge;
  let second: RunningWorker;
  let redis: RedisConnection;
  const workspaceRoot = mkdtempSync(join(tmpdir(), 'toolyard-authorization-'));
  const auth = { type: 'authorizationCode' };
  const agent = () => bridge.gateway.agent;
  const colleague = () => new Agent(bridge.gateway.url, KEYS.colleague);
  const operator = () => new Agent(bridge.gateway.url, KEYS.operator);
  const stranger = () => new Agent(bridge.gateway.url, KEYS.stranger);

  beforeAll(async () => {
    issuer = await startIssuer();
    server = await TokenProtectedServer.start(issuer);
    const worker = { EGRESS_ALLOW_HOSTS: HOST, SOURCE_TOKEN_KEY, WORKER_CONCURRENCY: 'net=1' };
    const scopes = ['submit', 'read', 'admin'] as const;
    bridge = await startBridge(
      [],
      {
        egress: new EgressPolicy([HOST]),
        sourceTokenKey: SOURCE_TOKEN_KEY,
        keys: [
          { id: 'bootstrap', sha256: sha256(BOOTSTRAP_KEY), tenant: 'default', scopes: [...scopes] },
          { id: 'colleague', sha256: sha256(KEYS.colleague), tenant: 'default', scopes: [...scopes] },
          { id: 'operator', sha256: sha256(KEYS.operator), tenant: 'default', scopes: [...scopes, 'operate'] },
          { id: 'stranger', sha256: sha256(KEYS.stranger), tenant: 'other', scopes: [...scopes] },
        ] as never,
      },
      worker,
    );
    const redisUrl = bridge.gateway.redisUrl;
    redis = createRedis(redisUrl);
    second = await startWorker(
      readWorkerConfig({
        PATH: process.env['PATH'],
        REDIS_URL: redisUrl,
        WORKER_PORT: 'off',
        WORKSPACE_ROOT: workspaceRoot,
        LOG_LEVEL: 'silent',
        ...worker,
      }),
    );
  });
  afterAll(async () => {
    redis?.disconnect();
    await second?.close();
    await bridge?.close();
    server?.close();
    await issuer?.close();
    rmSync(workspaceRoot, { recursive: true, force: true });
  });
  beforeEach(() => {
    issuer.person = { sub: 'ada' };
    issuer.onToken = issuer.onRevocation = () => Promise.resolve();
    server.issuers = [issuer.issuer];
    server.admits = () => Promise.resolve(true);
  });

  const add = (name: string, more: object = {}) =>
    agent().request<Problem>('POST', '/v1/sources', { name, kind: 'mcp', url: server.url, auth, ...more });
  const begin = <T = BeginSourceAuthorization>(name: string, as = agent()) => as.request<T>('POST', `/v1/sources/${name}/authorization`);
  const finish = <T = Problem>(url: string, as = agent()) => as.request<T>('POST', '/v1/source-authorizations', { url });
  const read = async (name: string) => (await agent().get<Source>(`/v1/sources/${name}`)).body;

  /** Returns the browser of a person to the gateway after consent. */
  const comeBack = async (begun: Answer<BeginSourceAuthorization>): Promise<string> => {
    expect([begun.status, begun.body]).toEqual([200, expect.objectContaining({ url: expect.stringContaining(issuer.issuer) as unknown })]);
    return (await follow(new CookieJar(), begun.body.url, /\/authorized\//)).url;
  };
  const authorized = async (name: string): Promise<void> => {
    expect((await add(name)).status).toBe(201);
    expect(await finish(await comeBack(await begin(name)))).toMatchObject({
      status: 200,
      body: { name, authorization: { state: 'granted' } },
    });
    await eventually(async () => (await read(name)).status === 'ok', `the tools of ${name} to be read`);
  };
  const lastGiven = () => issuer.refreshTokens.at(-1) ?? '';
  const isActive = async (token: string) => (await introspect(issuer, token)).active;
  const hasEnded = (token: string) => eventually(async () => (await isActive(token)) === false, 'the issuer to end the tokens');
  const whoami = (name: string) => agent().run(`${name}__whoami`, {});

  it('shows a source that waits for its authorization, and runs its tools after a person has given it [TS-13]', async () => {
    expect((await add('tickets')).status).toBe(201);
    const waiting = await eventually(async () => {
      const source = await read('tickets');
      return source.status === 'failed' ? source : undefined;
    }, 'the source to be tried');
    expect(waiting).toMatchObject({
      authorization: { state: 'needed' },
      error: expect.stringContaining('needs authorization by a person') as unknown,
    });
    const begun = await begin('tickets');
    const asked = new URL(begun.body.url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({ code_challenge_method: 'S256', resource: server.url, scope: 'tools offline_access' });
    expect(await finish(await comeBack(begun))).toMatchObject({ status: 200 });
    await eventually(async () => (await read('tickets')).status === 'ok', 'the tools to be read');
    expect((await whoami('tickets')).outcome).toBe('completed');
    expect((await read('tickets')).authorization).toEqual({
      state: 'granted',
      by: 'bootstrap',
      at: expect.any(String) as unknown,
      scope: 'tools',
    });
    const { body } = await agent().get<SourcePage>('/v1/sources');
    expect(body.sources.find(({ name }) => name === 'tickets')?.authorization?.state).toBe('granted');
  });

  it('shows no token of an authorized source: neither in results, events and sources, nor in Redis', async () => {
    await authorized('hidden');
    const { id } = await whoami('hidden');
    const paths = [`/v1/calls/${id}`, `/v1/calls/${id}/events`, '/v1/sources', '/v1/sources/hidden'];
    const seen = await Promise.all(paths.map((path) => agent().get(path)));
    const stored = await redis.hgetall(keys.sourceAuthorizations());
    const text = JSON.stringify([seen.map(({ body }) => body), stored]);
    expect(text).toContain('called with [REDACTED]');
    expect(Object.keys(stored)).toContain('default/hidden');
    expect([...server.tokens, ...issuer.refreshTokens].filter((token) => text.includes(token))).toEqual([]);
  });

  it('renews the tokens of a source once for all workers when the server refuses them', async () => {
    await authorized('renewed');
    expect((await whoami('renewed')).outcome).toBe('completed');
    const old = server.tokens.at(-1);
    const before = issuer.refreshTokens.length;
    let arrived = 0;
    let both = (): void => {};
    const bothThere = new Promise<void>((resolve) => (both = resolve));
    server.admits = async (token) => {
      if (token !== old) return true;
      arrived += 1;
      if (arrived === 2) both();
      await bothThere;
      return false;
    };
    const calls = await Promise.all([whoami('renewed'), whoami('renewed')]);
    expect(calls.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['completed', undefined],
      ['completed', undefined],
    ]);
    expect(issuer.refreshTokens.length).toBe(before + 1);
    expect(server.tokens.at(-1)).not.toBe(old);
  });

  it('asks a person again when the issuer does not renew the tokens of a source, and recovers afterwards', async () => {
    await authorized('ended');
    const token = issuer.refreshTokens.at(-1) ?? '';
    issuer.refuses = 'invalid_grant';
    const old = server.tokens.at(-1);
    server.admits = (given) => Promise.resolve(given !== old);
    const call = await whoami('ended');
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect((await read('ended')).authorization).toMatchObject({
      state: 'needed',
      reason: expect.stringContaining('invalid_grant') as unknown,
    });
    expect(JSON.stringify([call, await read('ended')])).not.toContain(token);
    issuer.refuses = undefined;
    expect(await finish(await comeBack(await begin('ended')))).toMatchObject({ status: 200 });
    await eventually(async () => (await read('ended')).status === 'ok', 'the tools to be read again');
    expect((await whoami('ended')).outcome).toBe('completed');
  });

  it('asks a person again when the server refuses renewed tokens of a source, too, and recovers afterwards', async () => {
    const ofOthers = new Set(server.tokens);
    await authorized('barred');
    server.admits = (token) => Promise.resolve(ofOthers.has(token));
    expect(await whoami('barred')).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    const { authorization } = await eventually(async () => {
      const source = await read('barred');
      return source.authorization?.state === 'needed' ? source : undefined;
    }, 'the source to need a person');
    expect(authorization).toMatchObject({ reason: expect.stringContaining('the server refuses the token') as unknown });
    server.admits = () => Promise.resolve(true);
    expect(await finish(await comeBack(await begin('barred')))).toMatchObject({ status: 200 });
    await eventually(async () => (await read('barred')).status === 'ok', 'the tools to be read again');
    expect((await whoami('barred')).outcome).toBe('completed');
  });

  it('revokes the tokens of a source here and at the issuer: calls fail until a person authorizes it again', async () => {
    await authorized('revoked');
    expect((await whoami('revoked')).outcome).toBe('completed');
    const sent = server.tokens.length;
    const answer = await agent().request<SourceAuthorizationRevoked>('DELETE', '/v1/sources/revoked/authorization');
    expect(answer).toMatchObject({ status: 200, body: { atIssuer: true } });
    expect(issuer.asked.filter((path) => path === '/token/revocation')).toHaveLength(2);
    expect(await whoami('revoked')).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect((await read('revoked')).authorization).toEqual({ state: 'needed' });
    expect(server.tokens).toHaveLength(sent);
  });

  it('accepts the end of an authorization only from the key that began it, once, at the address of its issuer', async () => {
    expect((await add('bound')).status).toBe(201);
    const url = await comeBack(await begin('bound'));
    const unknown = new URL(url);
    unknown.searchParams.set('state', 'of-no-one');
    expect((await finish(unknown.href)).status).toBe(409);
    for (const other of [colleague(), stranger()]) expect((await finish(url, other)).status).toBe(409);
    expect((await begin<Problem>('bound', stranger())).status).toBe(404);
    expect((await finish(url)).status).toBe(200);
    expect((await finish(url)).status).toBe(409);
    const elsewhere = new URL(await comeBack(await begin('bound')));
    elsewhere.pathname = '/authorized/0123456789abcdef';
    expect((await finish(elsewhere.href)).status).toBe(409);
  });

  it('refuses the answer of another issuer, and of a person who declined', async () => {
    expect((await add('mixed')).status).toBe(201);
    const mixed = new URL(await comeBack(await begin('mixed')));
    mixed.searchParams.set('iss', 'https://login.example.com');
    expect((await finish(mixed.href)).status).toBe(409);
    const refused = new URL(await comeBack(await begin('mixed')));
    refused.searchParams.delete('code');
    refused.searchParams.set('error', 'access_denied');
    expect(await finish(refused.href)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('access_denied') as unknown },
    });
    expect((await read('mixed')).authorization).toEqual({ state: 'needed' });
  });

  it('asks for one authorization of a tenant at a time', async () => {
    expect((await add('single')).status).toBe(201);
    let arrived = (): void => {};
    let goOn = (): void => {};
    const isAsked = new Promise<void>((resolve) => (arrived = resolve));
    const held = new Promise<void>((resolve) => (goOn = resolve));
    server.admits = async () => {
      arrived();
      await held;
      return true;
    };
    const first = begin('single');
    await isAsked;
    const second = await begin<Problem>('single', colleague());
    goOn();
    expect([second.status, second.body.code, (await first).status]).toEqual([503, 'overloaded', 200]);
    expect((await begin('single')).status).toBe(200);
  });

  it('sends no request to a private address that a server names as its issuer', async () => {
    expect((await add('inside')).status).toBe(201);
    server.issuers = ['http://10.0.0.1'];
    expect(await begin<Problem>('inside')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('private') as unknown } });
    server.issuers = ['https://login.example.com'];
    expect((await add('inside', { auth: { ...auth, issuer: issuer.issuer } })).status).toBe(201);
    expect(await begin<Problem>('inside')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('takes tokens of https://login.example.com') as unknown },
    });
  });

  it('deletes the tokens of a source with its definition, here and at the issuer, so that no other server gets them', async () => {
    const ended = () => issuer.asked.filter((path) => path === '/token/revocation').length;
    await authorized('moved');
    const before = ended();
    expect((await add('moved', { url: `${server.url}?other` })).status).toBe(201);
    expect((await read('moved')).authorization).toEqual({ state: 'needed' });
    await eventually(() => ended() - before === 2, 'the issuer to be asked');
    await authorized('removed');
    const found: number[] = [];
    issuer.onRevocation = async () => void found.push((await agent().get('/v1/sources/removed')).status);
    await agent().request('DELETE', '/v1/sources/removed');
    await eventually(() => found.length === 2, 'the issuer to be asked');
    expect([ended() - before, found]).toEqual([4, [404, 404]]);
    expect(await redis.hkeys(keys.sourceAuthorizations())).not.toContain('default/removed');
  });

  it('revokes tokens that the issuer grants during the removal of their source', async () => {
    expect((await add('vanished')).status).toBe(201);
    const url = await comeBack(await begin('vanished'));
    issuer.onToken = async () => void (await agent().request('DELETE', '/v1/sources/vanished'));
    const before = lastGiven();
    expect((await finish(url)).status).toBe(409);
    expect(lastGiven()).not.toBe(before);
    await hasEnded(lastGiven());
  });

  it('ends tokens at the issuer that cannot be stored', async () => {
    expect((await add('unstored')).status).toBe(201);
    const url = await comeBack(await begin('unstored'));
    issuer.onToken = async () => void (await redis.hset(keys.sourceAuthorizations(), 'default/unstored', 'damaged'));
    expect((await finish(url)).status).toBe(500);
    await hasEnded(lastGiven());
    await redis.hdel(keys.sourceAuthorizations(), 'default/unstored');
  });

  it('ends the tokens of the client before at the issuer when a source is authorized again', async () => {
    await authorized('again');
    const before = lastGiven();
    expect((await finish(await comeBack(await begin('again')))).status).toBe(200);
    await hasEnded(before);
    expect([await isActive(lastGiven()), (await whoami('again')).outcome]).toEqual([true, 'completed']);
  });

  /** Source in the config file. */
  const configure = (name: string, tenantId: string, more: object = {}) =>
    new SourceStore(redis).putDefinition({
      tenantId,
      origin: 'config',
      definition: SourceDefinition.parse({ name, kind: 'mcp', url: server.url, auth: { ...auth, ...more } }),
    });

  it('shows who authorized a source of all tenants to its operator only', async () => {
    await configure('common', ALL_TENANTS);
    expect((await finish(await comeBack(await begin('common', operator())), operator())).status).toBe(200);
    const seen = (as: Agent) => as.get<Source>('/v1/sources/common').then(({ body }) => body.authorization);
    expect(await seen(operator())).toMatchObject({ state: 'granted', by: 'operator', scope: 'tools' });
    expect([await seen(stranger()), await seen(colleague())]).toEqual([{ state: 'granted' }, { state: 'granted' }]);
  });

  it('names the missing secret of a source that needs it for authorization', async () => {
    const client = { issuer: issuer.issuer, clientId: 'toolyard', clientSecret: { secretEnv: 'NO_SUCH_SECRET' } };
    await configure('secretless', 'default', client);
    expect(await begin<Problem>('secretless')).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('NO_SUCH_SECRET is not set in the environment of the gateway') as unknown },
    });
  });

  describe('of the config file', () => {
    const sourceOf = (name: string, more: object = {}) => SourceSettings.parse({ name, kind: 'mcp', url: server.url, auth, ...more });
    const reload = (sources: readonly SourceSettings[]) => bridge.gateway.app.get(SourceConfigService).prepare({ sources })();
    const isThere = async (name: string) => (await agent().get(`/v1/sources/${name}`)).status === 200;
    /** Authorized, from a new file. The refresh token of each. */
    const configured = async (...names: string[]): Promise<string[]> => {
      reload(names.map((name) => sourceOf(name)));
      const given: string[] = [];
      for (const name of names) {
        await eventually(() => isThere(name), `the source ${name}`);
        expect((await finish(await comeBack(await begin(name)))).status).toBe(200);
        given.push(lastGiven());
      }
      return given;
    };

    it('ends the tokens of configured sources at the issuer that a new config file leaves out or changes', async () => {
      const [left, changed, kept] = await configured('left', 'changed', 'kept');
      reload([sourceOf('changed', { url: `${server.url}?other` }), sourceOf('kept', { timeoutMs: 1_000 })]);
      await Promise.all([left, changed].map((token = '') => hasEnded(token)));
      expect([await isThere('left'), (await read('changed')).authorization]).toEqual([false, { state: 'needed' }]);
      expect([await isActive(kept ?? ''), (await read('kept')).authorization?.state]).toEqual([true, 'granted']);
    });

    it('ends the tokens of configured sources at the issuer that a gateway does not have when it starts', async () => {
      const [token = ''] = await configured('older');
      let goOn = (): void => {};
      const held = new Promise<void>((resolve) => (goOn = resolve));
      issuer.onRevocation = () => held;
      const { redisUrl } = bridge.gateway;
      const older = await startTestGateway('default', {
        redisUrl,
        sources: [],
        egress: new EgressPolicy([HOST]),
        sourceTokenKey: SOURCE_TOKEN_KEY,
      });
      expect([await isThere('older'), await isActive(token)]).toEqual([false, true]);
      const closed = older.close();
      goOn();
      await closed;
      await hasEnded(token);
    });

    it('applies a config file without a source whose issuer does not answer', async () => {
      await configured('away');
      let goOn = (): void => {};
      const held = new Promise<void>((resolve) => (goOn = resolve));
      const asked = new Promise<void>((resolve) => (issuer.onRevocation = () => (resolve(), held)));
      reload([sourceOf('next')]);
      await asked;
      await eventually(() => isThere('next'), 'the source next');
      expect(await isThere('away')).toBe(false);
      goOn();
    });
  });
});
