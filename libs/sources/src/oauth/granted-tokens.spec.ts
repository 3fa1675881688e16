import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { StoredSource } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { AuthorizationStore } from './authorization-store.js';
import { authorizedFetch } from './authorized-fetch.js';
import { authorizedSource } from './authorized-source.js';
import type { Granted } from './stored-authorization.js';
import { GrantedTokens } from './granted-tokens.js';

const ISSUER = 'https://login.example.com';

describe('tokens that a person let a source have', () => {
  let redis: RedisConnection;
  let store: AuthorizationStore;
  let id: { tenantId: string; name: string };
  /** Requests to the issuer, as `path token`. */
  let asked: string[];
  let onRefresh: () => Promise<void>;
  /** Another answer than tokens. */
  let answer: (() => Response) | undefined;

  const granted: Granted = {
    issuer: {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      revocation_endpoint: `${ISSUER}/revoke`,
    },
    client: { clientId: 'toolyard', method: 'none' },
    accessToken: 'access-0',
    refreshToken: 'refresh-0',
    endsAt: 0,
  };
  const lasting: Granted = { ...granted, endsAt: Date.now() + 3_600_000 };
  const { refreshToken: _, ...alone } = lasting;
  const stored = () =>
    StoredSource.parse({
      tenantId: id.tenantId,
      origin: 'api',
      definition: { name: id.name, kind: 'mcp', url: 'https://mcp.example.com/mcp', auth: { type: 'authorizationCode' } },
    });
  const source = () => {
    const found = authorizedSource(stored());
    if (found === undefined) throw new Error('expected a source that people authorize');
    return found;
  };

  /** Gives other tokens for each refresh token, which counts once. */
  const fetch = async (url: string | URL, { body }: RequestInit = {}): Promise<Response> => {
    const form = new URLSearchParams(typeof body === 'string' ? body : '');
    const token = form.get('refresh_token') ?? form.get('token') ?? '';
    const path = new URL(url).pathname;
    const isUsed = asked.includes(`${path} ${token}`);
    asked.push(`${path} ${token}`);
    if (path === '/revoke') return new Response(null);
    await onRefresh();
    if (answer !== undefined) return answer();
    if (isUsed) return Response.json({ error: 'invalid_grant' }, { status: 400 });
    const number = asked.length;
    return Response.json({ access_token: `access-${number}`, refresh_token: `refresh-${number}`, token_type: 'Bearer', expires_in: 3_600 });
  };
  const grant = async (tokens: Granted) => expect(await store.grant(id, source().binding, tokens, 'ada')).toMatchObject({ isStored: true });
  const tokens = () => new GrantedTokens({ id, source: source(), store, env: {}, guarded: { fetch }, secrets: [] });

  beforeAll(() => {
    redis = createRedis(process.env['TEST_REDIS_URL'] ?? '');
  });
  afterAll(() => redis.disconnect());
  beforeEach(async () => {
    id = { tenantId: `t-${randomUUID()}`, name: 'tickets' };
    asked = [];
    onRefresh = () => Promise.resolve();
    answer = undefined;
    store = new AuthorizationStore(redis, 'a key of the tests of granted tokens');
    await redis.hset(keys.sourceDefinitions(), `${id.tenantId}/${id.name}`, JSON.stringify(stored()));
    await grant(granted);
  });

  it('renews an ended token of a source once for concurrent workers', async () => {
    const workers = [tokens(), tokens(), tokens()];
    const given = await Promise.all(workers.flatMap((worker) => [worker.token(), worker.token()]));
    expect(new Set(given)).toEqual(new Set(['access-1']));
    expect(asked).toEqual(['/token refresh-0']);
  });

  it('ends tokens at the issuer that were renewed while the authorization of their source was revoked', async () => {
    onRefresh = async () => void (await store.remove(id, source().binding));
    await expect(tokens().token()).rejects.toThrow('needs authorization by a person: no person has authorized it');
    expect(asked).toEqual(['/token refresh-0', '/revoke refresh-1', '/revoke access-1']);
    expect(await store.states([id])).toEqual([{ state: 'needed' }]);
  });

  it.each([
    ['renewed', undefined],
    ['refused', () => Response.json({ error: 'invalid_grant' }, { status: 400 })],
  ])('uses the tokens of a new authorization that arrived while older ones were %s, and revokes nothing', async (_name, other) => {
    answer = other;
    onRefresh = () => grant({ ...lasting, accessToken: 'access-new' });
    expect(await tokens().token()).toBe('access-new');
    expect(asked).toEqual(['/token refresh-0']);
  });

  it('ends tokens at the issuer that were renewed while another client got the authorization of their source', async () => {
    onRefresh = () => grant({ ...lasting, accessToken: 'access-new', client: { clientId: 'another', method: 'none' } });
    expect(await tokens().token()).toBe('access-new');
    expect(asked).toEqual(['/token refresh-0', '/revoke refresh-1', '/revoke access-1']);
  });

  it('lists the tokens that a new authorization of a source ends: those of another client', async () => {
    const other: Granted = { ...lasting, client: { clientId: 'another', method: 'none' } };
    const grantOf = (tokens: Granted, binding = source().binding) => store.grant(id, binding, tokens, 'ada');
    expect(await grantOf(lasting)).toEqual({ isStored: true });
    expect(await grantOf(other)).toEqual({ isStored: true, ended: lasting });
    expect(await grantOf(lasting, `${source().binding} `)).toEqual({ isStored: false, ended: lasting });
    await store.refuse(id, await store.read(id, source().binding), 'invalid_grant');
    expect(await grantOf(lasting)).toEqual({ isStored: true });
  });

  it('asks for a person after a refused renewal of tokens, and removes the tokens', async () => {
    asked.push('/token refresh-0');
    await expect(tokens().token()).rejects.toThrow('needs authorization by a person: the issuer does not renew its tokens');
    expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'needed', by: 'ada' })]);
    await expect(tokens().token()).rejects.toThrow('invalid_grant');
    expect(asked).toHaveLength(2);
  });

  it('keeps the tokens of a source while the issuer is unreachable', async () => {
    onRefresh = () => Promise.reject(new Error('no route'));
    await expect(tokens().token()).rejects.toThrow('could not be reached');
    expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'granted' })]);
  });

  const challenge = { 'www-authenticate': 'Basic realm="issuer"' };
  it.each([
    ['a client that it does not take', () => Response.json({ error: 'invalid_client' }, { status: 401 })],
    ['a challenge for the client', () => new Response(null, { status: 401, headers: challenge })],
    ['a challenge in a fault of its own', () => new Response(null, { status: 503, headers: challenge })],
    ['a fault that passes', () => Response.json({ error: 'temporarily_unavailable' }, { status: 400 })],
    ['a request to slow down', () => Response.json({ error: 'slow_down' }, { status: 400 })],
    ['a fault of its server', () => Response.json({ error: 'server_error' }, { status: 400 })],
    ['tokens of more than 8 KB', () => Response.json({ access_token: 'a'.repeat(9_000), token_type: 'Bearer' })],
    ['no token', () => Response.json({ token_type: 'Bearer' })],
  ])('keeps the tokens of a source if the issuer answers a renewal with %s', async (_name, other) => {
    answer = other;
    await expect(tokens().token()).rejects.toMatchObject({ code: 'unavailable', options: { retryable: true } });
    expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'granted' })]);
    answer = undefined;
    asked = [];
    expect(await tokens().token()).toBe('access-1');
  });

  it('uses a token of a source that ends in millions of years', async () => {
    answer = () => Response.json({ access_token: 'access-1', token_type: 'Bearer', expires_in: 1e15 });
    const worker = tokens();
    expect([await worker.token(), await worker.token()]).toEqual(['access-1', 'access-1']);
    expect(asked).toHaveLength(1);
  });

  it('sends a token that cannot be renewed again after one 401, and asks for a person after the second', async () => {
    await grant(alone);
    const worker = tokens();
    const statuses = [401, 200, 401, 401];
    const server = () => Promise.resolve(new Response(null, { status: statuses.shift() ?? 500 }));
    const call = authorizedFetch(server, source().url, worker);
    expect((await call(source().url)).status).toBe(200);
    expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'granted' })]);
    await expect(call(source().url)).rejects.toThrow('the token has ended, and the issuer gave none to renew it with');
    expect(statuses).toEqual([]);
    expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'needed' })]);
  });

  describe('that the server refuses', () => {
    /** Tokens of requests to the server, in their order. */
    let sent: string[];
    /** Called with each request to the server. */
    let onSend: (count: number) => Promise<void>;
    const callTo = (statuses: readonly (number | 'insufficient_scope')[]) => {
      const answers = statuses.map((status) =>
        status === 'insufficient_scope'
          ? new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="admin"' } })
          : new Response(null, { status }),
      );
      const server = async (_url: string | URL, { headers }: RequestInit = {}) => {
        const count = sent.push(new Headers(headers).get('authorization')?.replace('Bearer ', '') ?? '');
        await onSend(count);
        return answers[count - 1] ?? new Response(null, { status: 500 });
      };
      const call = authorizedFetch(server, source().url, tokens());
      return () => call(source().url);
    };
    beforeEach(() => {
      sent = [];
      onSend = () => Promise.resolve();
    });

    it('sends a renewed token again after one 401, and asks for a person after the second', async () => {
      await grant(lasting);
      const call = callTo([401, 401, 200, 401, 401, 401]);
      expect((await call()).status).toBe(200);
      expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'granted' })]);
      await expect(call()).rejects.toThrow('needs authorization by a person: the server refuses the token that the issuer gave last');
      expect(sent).toEqual(['access-0', 'access-1', 'access-1', 'access-1', 'access-2', 'access-2']);
      expect(asked).toEqual(['/token refresh-0', '/token refresh-1']);
      expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'needed' })]);
      await expect(tokens().token()).rejects.toThrow('the server refuses the token');
    });

    it('keeps a token that may not do everything at the server, renewed before or not', async () => {
      await grant(lasting);
      const call = callTo(['insufficient_scope', 401, 'insufficient_scope', 401, 401, 'insufficient_scope', 200]);
      expect((await call()).status).toBe(401);
      expect((await call()).status).toBe(401);
      expect((await call()).status).toBe(401);
      expect((await call()).status).toBe(200);
      expect(sent).toEqual(['access-0', 'access-0', 'access-1', 'access-1', 'access-2', 'access-2', 'access-2']);
      expect(asked).toEqual(['/token refresh-0', '/token refresh-1']);
      expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'granted' })]);
    });

    it('uses the tokens of a new authorization that arrived while the server refused a renewed one', async () => {
      await grant(lasting);
      onSend = async (count) => {
        if (count === 3) await grant({ ...lasting, accessToken: 'access-new' });
      };
      expect((await callTo([401, 401, 401, 200])()).status).toBe(200);
      expect(sent).toEqual(['access-0', 'access-1', 'access-1', 'access-new']);
      expect(await store.states([id])).toEqual([expect.objectContaining({ state: 'granted' })]);
    });
  });

  it('counts the time of tokens by the clock of Redis, not by that of a worker', async () => {
    await grant(lasting);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 7_200_000);
    expect(await tokens().token()).toBe('access-0');
    clock.mockRestore();
    expect(asked).toEqual([]);
  });

  it('asks for a person when a token that cannot be renewed has ended', async () => {
    await grant({ ...alone, endsAt: 1 });
    await expect(tokens().token()).rejects.toThrow('the token has ended');
    expect([asked, await store.states([id])]).toEqual([[], [expect.objectContaining({ state: 'needed' })]]);
  });

  it('opens tokens of a source neither for another definition nor with another key', async () => {
    await expect(store.read(id, `${source().binding} `)).rejects.toThrow('of another definition');
    await expect(new AuthorizationStore(redis, 'another key').read(id, source().binding)).rejects.toThrow('another SOURCE_TOKEN_KEY');
    await expect(new AuthorizationStore(redis, undefined).read(id, source().binding)).rejects.toThrow('SOURCE_TOKEN_KEY is not set');
  });
});
