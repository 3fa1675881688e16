import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const OTHER_KEY = 'test-key-of-another-tenant';
/** Most calls that a worker with one slot fetches ahead. */
const FETCHED_AHEAD = 2;

describe('calls that are dispatched again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-wiped-'));
  /** Requests in the order of the one worker. */
  const asked: string[] = [];
  let answer = (_path: string, response: ServerResponse): void => void response.end('a page');
  const site = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request.url ?? '', response);
  });
  let toolyard: TestCluster;
  let agent: Agent;
  let origin = '';
  beforeAll(async () => {
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const config = join(folder, 'toolyard.json');
    const keys = [{ id: 'other', key: OTHER_KEY, tenant: 'other' }];
    writeFileSync(config, JSON.stringify({ keys, policy: { egress: { privateHosts: ['127.0.0.1'] } } }));
    const env = { TOOLYARD_CONFIG: config, EGRESS_ALLOW_HOSTS: '127.0.0.1', WORKER_CONCURRENCY: 'net=1' };
    toolyard = await startTestCluster({ workers: 0, env });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true });
  });

  const wipe = async (pattern: string) => {
    const redis = createRedis(toolyard.redis.url);
    const queueKeys = await redis.keys(pattern);
    expect(queueKeys.length).toBeGreaterThan(0);
    await redis.del(...queueKeys);
    redis.disconnect();
  };
  const fetches = (count: number, path: string, more: Record<string, unknown> = {}, by = agent) =>
    Promise.all(Array.from({ length: count }, async () => (await by.accepted('web_fetch', { url: origin + path }, more)).id));
  /** Keeps the one slot of the pool busy until it is called. */
  const busy = async () => {
    const held = new Promise<ServerResponse>((resolve) => {
      answer = (path, response) => (path === '/held' ? resolve(response) : void response.end('a page'));
    });
    // The lost jobs are added again in their own time.
    const [id = ''] = await fetches(1, '/held', { timeouts: { runMs: 600_000 } });
    const response = await held;
    asked.length = 0;
    return async () => {
      response.end('a page');
      expect((await agent.ended(id)).outcome).toBe('completed');
    };
  };
  const hasPlace = (id: string, by = agent) =>
    eventually(async () => (await by.get(`/v1/calls/${id}`)).body.waiting?.position !== undefined, `call ${id} to stand in line`);

  it('runs all calls though the queues of BullMQ were wiped while they waited', async () => {
    const ids = await Promise.all(Array.from({ length: 100 }, async (_unused, n) => (await agent.submit('echo', { n })).body.id));
    await wipe('{q-*');

    await toolyard.worker();
    const calls = await Promise.all(ids.map((id) => agent.ended(id)));
    expect(calls.map((call) => call.outcome)).toEqual(calls.map(() => 'completed'));
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });

  it('preserves the priority of calls and the turns of tenants when the jobs of a pool are lost', async () => {
    const other = new Agent(agent.url, OTHER_KEY);
    const free = await busy();
    const many = await fetches(30, '/normal');
    const others = await fetches(3, '/other', {}, other);
    const urgent = await fetches(3, '/high', { priority: 'high' });
    await wipe('{q-net}*');
    for (const id of urgent) await hasPlace(id);
    for (const id of others) await hasPlace(id, other);
    await free();
    for (const id of [...many, ...urgent]) await agent.ended(id);
    for (const id of others) await other.ended(id);
    const lastOf = (path: string) => asked.lastIndexOf(path) + 1;
    expect(asked.toSorted()).toEqual([...urgent.map(() => '/high'), ...many.map(() => '/normal'), ...others.map(() => '/other')]);
    expect(lastOf('/high')).toBeLessThanOrEqual(FETCHED_AHEAD + urgent.length);
    expect(lastOf('/other')).toBeLessThanOrEqual(FETCHED_AHEAD + urgent.length + 2 * others.length);
  });

  it('preserves the priority of retried calls', async () => {
    // Attempt that keeps the one slot busy until all others are queued.
    const failing = new Promise<ServerResponse>((resolve) => (answer = (_path, response) => resolve(response)));
    const retry = { maxAttempts: 2, backoffMs: 1 };
    const { id } = await agent.accepted('web_fetch', { url: `${origin}/again` }, { priority: 'high', retry });
    const response = await failing;
    const many = await fetches(20, '/normal');
    answer = (_path, later) => void later.end('a page');
    asked.length = 0;
    response.writeHead(503).end();
    expect(await agent.ended(id)).toMatchObject({ outcome: 'completed', attempt: 2 });
    for (const each of many) await agent.ended(each);
    expect(asked).toHaveLength(1 + many.length);
    expect(asked.indexOf('/again')).toBeLessThan(many.length / 2);
  });
});
