import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Diagnostics } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('an installation with processes of several releases', () => {
  let toolyard: TestCluster;
  let redis: RedisConnection;
  const others: string[] = [];

  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, workers: 0 });
    redis = createRedis(toolyard.redis.url);
  });
  afterEach(async () => {
    if (others.length > 0) await redis.zrem(keys.processes(), ...others.splice(0));
    await redis.del(keys.dataProtocol());
  });
  afterAll(async () => {
    redis?.disconnect();
    await toolyard?.close();
  });

  /** Registers a running process of another release in Redis. */
  const register = async (process: Diagnostics['processes'][number]) => {
    const text = JSON.stringify({ ...process, fieldOfThatRelease: true });
    others.push(text);
    await redis.zadd(keys.processes(), Date.now() + 3_600_000, text);
  };
  const refusal = async (start: Promise<unknown>) => {
    const error = await start.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof Error ? error.message : '';
  };

  it('refuses a gateway beside a worker of a newer release that does not work with it', async () => {
    await register({ kind: 'worker', id: 'w-9', version: '9.0.0', protocol: 9, oldestCompatible: 8 });
    const said = await refusal(toolyard.gateway());
    expect(said).toMatch(
      /gateway ended with 1:\s+This gateway is version \S+ \(protocol \d+\) and cannot work beside the worker w-9, which is version 9\.0\.0 \(protocol 9\)/,
    );
    expect(said).toContain('deploy/README.md, "Upgrades"');
    expect(said).not.toMatch(/^\s+at /m);
    expect(await redis.exists(keys.logMetadata())).toBe(0);
  });

  it('refuses a worker on data that it cannot read', async () => {
    await redis.set(keys.dataProtocol(), JSON.stringify({ version: '9.0.0', protocol: 9, oldestReader: 9 }));
    expect(await refusal(toolyard.worker())).toMatch(/worker ended with 1:\s+The data in this Redis was written by version 9\.0\.0/);
    expect(await redis.exists(keys.logMetadata())).toBe(0);
  });

  it.each(['gateway', 'worker'] as const)(
    'refuses a %s on data of a release before 0.2.0, with advice, and leaves it unchanged',
    async (kind) => {
      const text = JSON.stringify({ format: 2, partitions: 16 });
      await redis.set(keys.logMetadata(), text);
      expect(await refusal(toolyard[kind]())).toMatch(
        new RegExp(`${kind} ended with 1:\\s+This Redis was written by a release before 0\\.2\\.0 .*Let its calls end`),
      );
      expect(await redis.get(keys.logMetadata())).toBe(text);
      expect([await redis.exists(keys.dataProtocol()), await redis.zcard(keys.processes())]).toEqual([0, 0]);
      await redis.del(keys.logMetadata());
    },
  );

  it('starts a gateway beside a worker of another release that works with it, and shows all processes', async () => {
    const [gateway] = await Promise.all([toolyard.gateway({ GATEWAY_NAME: 'g-1' }), toolyard.worker({ WORKER_ID: 'w-1' })]);
    const agent = new Agent(gateway.url);
    const processes = async () => (await agent.get<Diagnostics>('/v1/diagnostics')).body.processes;
    await register({ kind: 'worker', id: 'w-0', version: '9.0.0', protocol: 9, oldestCompatible: 2 });
    const [first, second, third] = await eventually(async () => {
      const found = await processes();
      return found.length === 3 ? found : undefined;
    }, 'three processes');
    expect(first).toMatchObject({ kind: 'gateway', id: 'g-1', tenantCallBytes: 134_217_728 });
    expect(second).toEqual({ kind: 'worker', id: 'w-0', version: '9.0.0', protocol: 9, oldestCompatible: 2 });
    expect(third).toEqual({ ...first, kind: 'worker', id: 'w-1' });
    expect(JSON.parse((await redis.get(keys.dataProtocol())) ?? '{}')).toMatchObject({ protocol: first?.protocol });

    for (const worker of toolyard.workers) worker.signal('SIGTERM');
    await eventually(async () => (await processes()).every(({ id }) => id !== 'w-1'), 'the worker to leave the list');
  });
});
