import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CallSnapshot } from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { DurableWrites } from '../platform/durable-writes.service.js';
import type { GatewayConfig } from '../platform/gateway.config.js';
import type { BatchDefinition } from './batch-record.js';
import { BatchExecutor, type BatchRunDeps } from './batch-executor.js';
import { BatchStore } from './batch-store.service.js';

const BATCH = '00-01JZ8C5W3Q4X9R7T2M6K8N0P0V';
const CALLS = ['00-01JZ8C5W3Q4X9R7T2M6K8N0P1V', '00-01JZ8C5W3Q4X9R7T2M6K8N0P2V'];

let server: RedisServer;
let redis: RedisConnection;
beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

it('ends a batch with all its calls, also those whose notes a failover lost', async () => {
  const durable = new DurableWrites(redis, { durability: 'local', replicas: 0, logDeadlineMs: 1_000 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the store reads
  const config = { partitions: 1 } as GatewayConfig;
  const store = new BatchStore(redis, durable, config);
  const doc: BatchDefinition = {
    v: 1,
    id: BATCH,
    principal: { keyId: 'k', tenantId: 'acme', scopes: [] },
    strategy: { type: 'parallel', serializeSideEffects: false },
    onFailure: 'isolate',
    readOnly: [true, true],
    verdicts: ['allow', 'allow'],
  };
  await store.create(doc, [], undefined);
  const batch = await store.load(BATCH);
  if (batch === undefined) throw new Error('no batch');
  const deps = {
    // A failover takes the notes away.
    store: Object.assign(store, { noteCalls: () => Promise.resolve() }),
    calls: {
      rejection: () => undefined,
      submit: (_batch: unknown, index: number) => Promise.resolve({ callId: CALLS[index] }),
      head: (callId: string) => Promise.resolve({ callId, status: 'ended', attempt: 1 } as CallSnapshot),
    },
    hub: { watch: () => ({ ended: new Promise(() => {}), cancel: () => {} }) },
    closing: new AbortController().signal,
    failed: (_id: string, error: unknown) => {
      throw error;
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of them as the run needs
  const run = new BatchExecutor(batch, deps as unknown as BatchRunDeps);
  run.poke();
  await run.over;
  const ended = await store.load(BATCH);
  expect(ended?.endedAt).toBeGreaterThan(0);
  expect(new Map(ended?.callIds)).toEqual(new Map(CALLS.entries()));
  expect(await redis.zrange(keys.batches('00'), '0', '-1')).toEqual([]);
});
