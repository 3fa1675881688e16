import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis } from '#redis';
import { Agent, type Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const SESSION = 'a-session';

describe('a failover to a replica that lacks the newest events, while no gateway watches', () => {
  let toolyard: TestCluster;
  let replica: RedisServer;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { WORKER_POOLS: 'read' } });
    replica = await startRedisServer({
      settings: ['--save', '', '--appendonly', 'yes', '--replicaof', '127.0.0.1', String(toolyard.redis.port)],
    });
  });
  afterAll(async () => {
    // The log of the old master is no longer that of this installation: what clients saw cannot be held against it.
    await toolyard?.close().catch(() => {});
    await replica?.stop();
  });

  it('reuses no event id after a failover, and tells readers to resync', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const before = await listen(agent);
    await agent.run('echo', { n: 1 }, { sessionId: SESSION });
    const [master, promoted] = [createRedis(toolyard.redis.url), createRedis(replica.url)];
    await eventually(async () => (await master.wait(1, 1000)) === 1, 'the replica to have the first call');
    // Cut off from its master the replica misses what comes now, and becomes the master afterwards.
    await promoted.call('REPLICAOF', 'NO', 'ONE');
    await agent.run('echo', { n: 2 }, { sessionId: SESSION });
    const seen = await eventually(() => (endsOf(before) === 2 ? before.events() : undefined), 'both ends');
    before.close();
    const apps = [...toolyard.gateways, ...toolyard.workers];
    for (const app of apps) app.signal('SIGTERM');
    await Promise.all(apps.map((app) => app.ended()));
    await toolyard.redis.kill();

    const [gateway] = await Promise.all([toolyard.gateway({ REDIS_URL: replica.url }), toolyard.worker({ REDIS_URL: replica.url })]);
    const other = new Agent(gateway.url);
    const call = await other.run('echo', { n: 3 }, { sessionId: SESSION });
    const stream = await listen(other, seen.at(-1)?.cursor);
    await eventually(() => stream.frames.some(({ frame }) => frame.op === 'resync'), 'the resync frame');
    const fresh = await other.events(call.id);
    expect(fresh.length).toBeGreaterThan(0);
    const known = new Set(seen.map(({ event }) => event.id));
    expect(fresh.filter(({ id }) => known.has(id))).toEqual([]);
    stream.close();
    for (const redis of [master, promoted]) redis.disconnect();
  });
});

async function listen(agent: Agent, cursor?: string): Promise<Stream> {
  const stream = await agent.stream();
  stream.send({ op: 'subscribe', id: 'session', filter: { sessionId: SESSION }, ...(cursor === undefined ? {} : { cursor }) });
  await stream.frame('subscribed', 'session');
  return stream;
}

function endsOf(stream: Stream): number {
  return stream.events().filter(({ event }) => event.type === 'call.end').length;
}
