import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { Batch, IssuedKey, Problem } from '#contracts';
import { createRedis, keys, partitionOfRoot, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const ROOM = 110_000;

describe('what Redis keeps of the sessions of a tenant', () => {
  let gateway: TestGateway;
  let tenant: string;
  let tenants = 0;
  beforeEach(async () => {
    tenant = `session-room-${(tenants += 1)}`;
    gateway = await startTestGateway(tenant, { tenantSessionBytes: ROOM });
  });
  afterEach(() => gateway.close());

  const send = async (method: string, path: string, body?: object) => {
    const { status, body: problem } = await gateway.agent.request<Partial<Problem>>(method, path, body);
    return { status, problem };
  };
  const patterns = (count: number) => Array.from({ length: count }, (_, index) => `tool_${String(index).padStart(90, '0')}`);
  const put = (id: string, count: number) => send('PUT', `/v1/sessions/${id}`, { tools: patterns(count), allowedTools: patterns(count) });
  const message = (id: string, text: string) => send('POST', `/v1/sessions/${id}/steer`, { message: text });
  const statuses = async (ids: readonly string[], text: string) => {
    const answers = [];
    for (const id of ids) answers.push((await message(id, text)).status);
    return answers;
  };
  /** Counts as much for other sessions as the tenant may have, after `change`. */
  const fill = async (change?: (redis: RedisConnection) => Promise<unknown>) => {
    const redis = createRedis(gateway.redisUrl);
    await change?.(redis);
    await redis.hincrby(keys.sessionBytes(tenant), '', ROOM);
    redis.disconnect();
  };
  const refused = {
    status: 429,
    problem: { code: 'quota_exceeded', detail: expect.stringContaining('TENANT_SESSION_BYTES'), retryAfterMs: 5_000 },
  };

  it('refuses settings of another session beyond TENANT_SESSION_BYTES, and accepts them after a deletion', async () => {
    expect(await put('a', 195)).toMatchObject({ status: 200 });
    expect(await put('b', 195)).toMatchObject({ status: 200 });
    expect(await put('c', 195)).toMatchObject(refused);
    expect(await put('a', 150)).toMatchObject({ status: 200 });
    expect(await send('DELETE', '/v1/sessions/b')).toMatchObject({ status: 204 });
    expect(await put('c', 195)).toMatchObject({ status: 200 });
  });

  it('refuses a message to a session beyond TENANT_SESSION_BYTES', async () => {
    expect(await statuses(['d', 'e', 'f', 'g'], 'x'.repeat(16_000))).toEqual([202, 202, 202, 429]);
    expect(await message('h', 'x'.repeat(16_000))).toMatchObject(refused);
  });

  it('deletes a session that has only a todo list or messages, also when the tenant has TENANT_SESSION_BYTES already', async () => {
    expect(await message('b', 'wait')).toMatchObject({ status: 202 });
    await fill(async (redis) => {
      await redis.set(keys.sessionData(tenant, 'a'), JSON.stringify({ todos: [] }));
      await redis.hset(keys.sessionBytes(tenant), 'data:a', '524', '', '524');
    });
    expect(await send('DELETE', '/v1/sessions/never-used')).toMatchObject(refused);
    expect(await send('DELETE', '/v1/sessions/a')).toMatchObject({ status: 204 });
    expect(await send('DELETE', '/v1/sessions/b')).toMatchObject({ status: 204 });
  });

  it('reads a session with a renewed time to live, also for a tenant at TENANT_SESSION_BYTES', async () => {
    await fill((redis) => redis.set(keys.session(tenant, 'old'), JSON.stringify({ tools: ['echo'] })));
    expect(await send('GET', '/v1/sessions/old')).toMatchObject({ status: 200, problem: { tools: ['echo'] } });
  });

  it('counts waiting messages of a deleted session, but not those stored for people', async () => {
    const long = 'x'.repeat(16_000);
    expect(await statuses(['a', 'a', 'a', 'b'], long)).toEqual([202, 202, 202, 429]);
    expect(await send('DELETE', '/v1/sessions/a')).toMatchObject({ status: 204 });
    expect(await statuses(['a'], 'y')).toEqual([202]);
    expect(await statuses(['b', 'b'], long)).toEqual([202, 429]);
  });

  it('counts messages that batches have taken, also after the end of the batch', async () => {
    const isEnded = async (id: string) => (await gateway.agent.get<Batch>(`/v1/batches/${id}`)).body.status === 'ended';
    const take = async () => {
      const calls = [{ tool: 'echo', arguments: { text: 'x' } }];
      const { id } = (await gateway.agent.request<Batch>('POST', '/v1/batches', { sessionId: 'a', calls })).body;
      await send('POST', `/v1/batches/${id}/cancel`, {});
      await eventually(() => isEnded(id), 'the end of the batch');
    };
    const answers = [];
    for (let sent = 0; sent < 4; sent += 1) {
      answers.push((await message('a', 'x'.repeat(16_000))).status);
      await take();
    }
    expect(answers).toEqual([202, 202, 202, 429]);
  });

  it('reads no messages of a session to queue a further one', async () => {
    expect(await statuses(Array<string>(12).fill('a'), 'x'.repeat(3_000))).toEqual(Array(12).fill(202));
    const redis = new Redis(gateway.redisUrl);
    const monitor = await redis.monitor();
    const seen: string[] = [];
    const all = new Promise<void>((resolve) =>
      monitor.on('monitor', (_time: string, [command = '', ...args]: string[]) => {
        if (command.toLowerCase() === 'echo' && args[0] === tenant) resolve();
        else if (args[0]?.includes(`:${tenant}:a`) === true) seen.push(command.toLowerCase());
      }),
    );
    expect((await message('a', 'one more')).status).toBe(202);
    await redis.echo(tenant);
    await all;
    monitor.disconnect();
    redis.disconnect();
    expect(seen.filter((command) => command === 'rpush')).toHaveLength(2);
    expect(seen).not.toContain('lrange');
  });

  it('counts messages that a release before stored uncounted', async () => {
    const redis = createRedis(gateway.redisUrl);
    expect(await statuses(['a', 'a', 'a'], 'x'.repeat(16_000))).toEqual([202, 202, 202]);
    await redis.del(keys.steeringBytes(partitionOfRoot(tenant, 'a', 16), tenant, 'a'));
    expect(await statuses(['a'], 'x'.repeat(16_000))).toEqual([429]);
    redis.disconnect();
  });

  it('counts bytes of a message, not its characters', async () => {
    expect(await statuses(['a', 'a'], '€'.repeat(16_000))).toEqual([202, 429]);
  });

  it('refuses a call whose session has hooks for which the tenant has no room, and stores no more of them', async () => {
    const match = patterns(20);
    const submit = async (index: number) => {
      const hooks = [{ name: 'watch', on: 'after', url: `https://hooks.example.com/${index}`, match: ['echo', ...match] }];
      expect(await send('PUT', '/v1/sessions/hooked', { hooks })).toMatchObject({ status: 200 });
      return send('POST', '/v1/calls', { tool: 'echo', arguments: { text: 'x' }, sessionId: 'hooked' });
    };
    const answers = [];
    for (let index = 0; index < 60; index += 1) answers.push(await submit(index));
    expect(answers[0]).toMatchObject({ status: 202 });
    expect(answers.at(-1)).toMatchObject(refused);
    const redis = createRedis(gateway.redisUrl);
    const ofTenant = Object.keys(await redis.hgetall(keys.sessionBytes(tenant))).filter((entry) => entry.startsWith('hooks:'));
    expect(ofTenant.length).toBe(answers.filter(({ status }) => status === 202).length);
    redis.disconnect();
  });

  it('refuses a saved view beyond TENANT_SESSION_BYTES, and takes it when another one was deleted', async () => {
    const search = Object.fromEntries(Array.from({ length: 30 }, (_, field) => [`field-${field}`, 'x'.repeat(1_000)]));
    const view = (name: string) => send('PUT', `/v1/views/${name}`, { search });
    expect([(await view('a')).status, (await view('b')).status, (await view('c')).status]).toEqual([200, 200, 200]);
    expect(await view('d')).toMatchObject(refused);
    expect(await view('a')).toMatchObject({ status: 200 });
    expect(await put('a', 195)).toMatchObject(refused);
    expect(await send('DELETE', '/v1/views/b')).toMatchObject({ status: 204 });
    expect(await view('d')).toMatchObject({ status: 200 });
  });

  it('reads saved views without a write, and renews their lifetime at most once a day', async () => {
    expect((await send('PUT', '/v1/views/mine', { search: {} })).status).toBe(200);
    const redis = createRedis(gateway.redisUrl);
    const [views = ''] = await redis.keys(keys.savedViews(tenant, '*'));
    const end = await redis.pexpiretime(views);
    expect((await send('GET', '/v1/views')).status).toBe(200);
    expect(await redis.pexpiretime(views)).toBe(end);
    await redis.pexpireat(views, end - 2 * 24 * 3_600_000);
    expect((await send('GET', '/v1/views')).status).toBe(200);
    expect(await redis.pexpiretime(views)).toBeGreaterThanOrEqual(end);
    redis.disconnect();
  });

  it('removes the saved views of an API key when it is revoked, and keeps them no longer than until it expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body: made } = await gateway.agent.request<IssuedKey>('POST', '/v1/keys', { name: 'short', scopes: ['read'], expiresAt });
    const holder = new Agent(gateway.url, made.key);
    expect((await holder.request('PUT', '/v1/views/mine', { search: {} })).status).toBe(200);
    const redis = createRedis(gateway.redisUrl);
    const stored = keys.savedViews(tenant, made.id);
    const leftMs = await redis.pttl(stored);
    expect([leftMs > 0, leftMs <= 3_600_000]).toEqual([true, true]);
    expect(await send('DELETE', `/v1/keys/${made.id}`)).toMatchObject({ status: 204 });
    expect([await redis.exists(stored), await redis.hexists(keys.sessionBytes(tenant), `views:${made.id}`)]).toEqual([0, 0]);
    redis.disconnect();
  });
});
