import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventLogUnreplicated } from '#event-log';
import { createRedis, LuaScript, type RedisConnection } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { type DurableScript, DurableWrites } from './durable-writes.service.js';

const MEMORY = ['--save', '', '--appendonly', 'no'];
const count = (repeatable: boolean): DurableScript => ({ repeatable, script: new LuaScript(`#!lua\nreturn redis.call('INCR', KEYS[1])`) });
const FIND: DurableScript = { repeatable: true, script: new LuaScript(`#!lua\nreturn redis.call('EXISTS', KEYS[1])`) };

describe('a durable write', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let redis: RedisConnection;
  const writes = (logDeadlineMs: number) => new DurableWrites(redis, { durability: 'replicated', replicas: 1, logDeadlineMs });
  const offset = async () => Number(/master_repl_offset:(\d+)/.exec(await redis.info('replication'))?.[1]);
  const follows = () => eventually(async () => (await redis.wait(1, 100)) === 1, 'the replica to follow');
  beforeAll(async () => {
    master = await startRedisServer({ settings: [...MEMORY, '--enable-debug-command', 'local'] });
    replica = await startRedisServer({ settings: [...MEMORY, '--replicaof', `127.0.0.1 ${master.port}`] });
    redis = createRedis(master.url);
  });
  beforeEach(async () => {
    replica.signal('SIGCONT');
    await redis.del('{a}:n');
    await follows();
  });
  afterAll(async () => {
    redis.disconnect();
    replica.signal('SIGCONT');
    await Promise.all([master.stop(), replica.stop()]);
  });

  it('waits for the replication of an effect that a repeated durable script finds in place', async () => {
    const before = await offset();
    expect(await writes(5_000).run(FIND, ['{a}:n'], [])).toBe(0);
    expect(await offset()).toBeGreaterThan(before);
  });

  it.each([true, false])('runs the script of a durable write once while the replicas are away (repeatable: %s)', async (repeatable) => {
    replica.signal('SIGSTOP');
    const refused = writes(1_500).run(count(repeatable), ['{a}:n'], []);
    await expect(refused).rejects.toThrow(EventLogUnreplicated);
    expect(await redis.get('{a}:n')).toBe('1');
    const written = writes(60_000).run(count(repeatable), ['{a}:n'], []);
    await eventually(async () => (await redis.get('{a}:n')) === '2', 'the script to run');
    replica.signal('SIGCONT');
    expect(await written).toBe(2);
    expect(await redis.get('{a}:n')).toBe('2');
  });

  it.each([
    [true, '2'],
    [false, '1'],
  ])('repeats a durable write on another master only if that is safe (repeatable: %s)', async (repeatable, left) => {
    replica.signal('SIGSTOP');
    const writing = writes(60_000).run(count(repeatable), ['{a}:n'], []);
    const settled = writing.then(
      () => 'written',
      (error: unknown) => error,
    );
    await eventually(async () => (await redis.get('{a}:n')) === '1', 'the script to run');
    // Simulates a failover to a replica that had the write: another history begins.
    await redis.call('DEBUG', 'CHANGE-REPL-ID');
    if (repeatable) await eventually(async () => (await redis.get('{a}:n')) === left, 'the script to be repeated');
    else expect(await settled).toBeInstanceOf(EventLogUnreplicated);
    replica.signal('SIGCONT');
    if (repeatable) expect(await settled).toBe('written');
    expect(await redis.get('{a}:n')).toBe(left);
  });

  it('refuses a durable write at its deadline also when others wait before it', async () => {
    replica.signal('SIGSTOP');
    const all = Array.from({ length: 5 }, () => writes(1_500).run(FIND, ['{a}:n'], []));
    const results = await Promise.allSettled(all);
    replica.signal('SIGCONT');
    expect(results.map(({ status }) => status)).toEqual(all.map(() => 'rejected'));
  });
});
