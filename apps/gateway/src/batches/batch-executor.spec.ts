import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { BatchCallBody, ProblemError } from '#contracts';
import type { CallSnapshot, StoredEvent } from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { FairTurns } from '../platform/fair-turns.service.js';
import type { GatewayConfig } from '../platform/gateway.config.js';
import type { BatchDefinition } from './batch-record.js';
import { BatchExecutor, type BatchRunDeps } from './batch-executor.js';
import { SessionRoom } from '../sessions/session-room.service.js';
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

const DOC: BatchDefinition = {
  v: 1,
  id: BATCH,
  principal: { keyId: 'k', tenantId: 'acme', scopes: [] },
  strategy: { type: 'parallel', serializeSideEffects: false },
  onFailure: 'isolate',
  readOnly: [true, true],
  verdicts: ['allow', 'allow'],
};

function openStore(): BatchStore {
  const durable = new DurableWrites(redis, { durability: 'local', replicas: 0, logDeadlineMs: 1_000 });
  const room = new SessionRoom(redis, { tenantSessionBytes: 1_000_000 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the store reads
  return new BatchStore(redis, durable, { partitions: 1, tenantBatchBytes: 1_000_000 } as GatewayConfig, room);
}

async function execute(
  store: BatchStore,
  deps: Pick<BatchRunDeps, 'hub'> & {
    readonly calls: object;
    readonly failed?: BatchRunDeps['failed'];
    readonly turns?: BatchRunDeps['turns'];
  },
): Promise<BatchExecutor> {
  const batch = await store.load(BATCH);
  if (batch === undefined) throw new Error('no batch');
  const failed = (_id: string, error: unknown) => {
    throw error;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of them as the run needs
  const all = { store, turns: new FairTurns(), closing: new AbortController().signal, failed, ...deps } as unknown as BatchRunDeps;
  const run = new BatchExecutor(batch, all);
  run.schedule();
  await run.done;
  return run;
}

const ENDED = (callId: string) => Promise.resolve({ callId, status: 'ended', attempt: 1 } as CallSnapshot);

beforeEach(() => redis.flushall());

it('ends a batch with all its calls, also with call ids that a failover lost', async () => {
  // Failover that loses the saved call ids.
  const store = Object.assign(openStore(), { saveCallIds: () => Promise.resolve() });
  await store.create(DOC, [], undefined);
  await execute(store, {
    calls: {
      rejection: () => undefined,
      submit: (_batch: unknown, index: number) => Promise.resolve({ callId: CALLS[index] }),
      head: ENDED,
    },
    hub: { watch: () => ({ ended: new Promise(() => {}), cancel: () => {} }) },
  });
  const ended = await store.load(BATCH);
  expect(ended?.endedAt).toBeGreaterThan(0);
  expect(new Map(ended?.callIds)).toEqual(new Map(CALLS.entries()));
  expect(await redis.zrange(keys.batches('00'), '0', '-1')).toEqual([]);
});

it('notices the End of a call that arrives before the answer to its submission', async () => {
  const store = openStore();
  await store.create(DOC, [], undefined);
  const seen = [
    { type: 'call.submitted', size: 1 },
    { type: 'call.start', size: 1 },
    { type: 'call.end', size: 1 },
  ] as StoredEvent[];
  await execute(store, {
    calls: {
      rejection: () => undefined,
      submit: async (_batch: unknown, index: number, newId: (callId: string) => void) => {
        newId(CALLS[index] ?? '');
        await new Promise(setImmediate);
        return { callId: CALLS[index], status: 'queued' };
      },
      head: ENDED,
    },
    hub: { watch: () => ({ ended: Promise.resolve(seen), cancel: () => {} }) },
  });
  expect((await store.load(BATCH))?.endedAt).toBeGreaterThan(0);
});

it('reads the record of a batch for its submission and its last End, not for the Ends between', async () => {
  const store = openStore();
  const most = 20;
  await store.create({ ...DOC, readOnly: Array(most).fill(true), verdicts: Array(most).fill('allow') }, [], undefined);
  let reads = 0;
  const counted = Object.assign(openStore(), {
    saveCallIds: async (...args: Parameters<BatchStore['saveCallIds']>) => {
      await store.saveCallIds(...args);
      setImmediate(() => void end());
    },
    progress: (...args: Parameters<BatchStore['progress']>) => {
      reads += 1;
      return store.progress(...args);
    },
  });
  const ends: (() => void)[] = [];
  const seen = ['call.submitted', 'call.start', 'call.end'].map((type) => ({ type, size: 1 })) as StoredEvent[];
  const end = async () => {
    for (const next of ends.splice(0)) {
      next();
      await redis.ping();
    }
  };
  await execute(counted, {
    calls: {
      rejection: () => undefined,
      submit: async (_batch: unknown, index: number, newId: (callId: string) => void) => {
        newId(`00-${index}`);
        return { callId: `00-${index}`, status: 'queued' };
      },
      head: ENDED,
    },
    hub: { watch: () => ({ ended: new Promise((resolve) => ends.push(() => resolve(seen))), cancel: () => {} }) },
  });
  expect((await store.load(BATCH))?.endedAt).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(3);
});

it.each([
  ['25 small calls', 100, 10, 26],
  ['some large calls', 40, 20_000, 4],
])('submits %s of a batch in a turn of the event loop, and no more', async (_what, length, characters, most) => {
  const store = openStore();
  const many = { readOnly: Array<boolean>(length).fill(true), verdicts: Array<'allow'>(length).fill('allow') };
  const calls = Array.from({ length }, () => BatchCallBody.parse({ tool: 'echo', arguments: { text: 'x'.repeat(characters) } }));
  await store.create({ ...DOC, ...many }, calls, undefined);
  const turns: number[] = [0];
  await execute(store, {
    calls: {
      rejection: () => undefined,
      submit: (_batch: unknown, index: number) => {
        turns.push((turns.pop() ?? 0) + 1);
        return Promise.resolve({ callId: `00-01JZ8C5W3Q4X9R7T2M6K8N${String(index).padStart(4, '0')}` });
      },
      head: ENDED,
    },
    hub: { watch: () => ({ ended: new Promise(() => {}), cancel: () => {} }) },
    turns: { next: (tenantId) => Promise.resolve(void turns.push(tenantId === 'acme' ? 0 : Infinity)) },
  });
  expect(turns.reduce((sum, calls) => sum + calls)).toBe(length);
  expect(Math.max(...turns)).toBeLessThanOrEqual(most);
});

it.each([
  ['at once', false, 300],
  ['one after the other', true, 10],
])('submits all calls of a batch except one without room: side effects %s', async (_how, serializeSideEffects, most) => {
  const store = openStore();
  const many = { readOnly: Array<boolean>(most).fill(!serializeSideEffects), verdicts: Array<'allow'>(most).fill('allow') };
  if (serializeSideEffects) many.readOnly[0] = true;
  await store.create({ ...DOC, strategy: { type: 'parallel', serializeSideEffects }, ...many }, [], undefined);
  const idOf = (index: number) => `00-01JZ8C5W3Q4X9R7T2M6K8N${String(index).padStart(4, '0')}`;
  const submitted = new Set<number>();
  const refusals: unknown[] = [];
  await execute(store, {
    calls: {
      rejection: () => undefined,
      submit: async (_batch: unknown, index: number) => {
        // Accepts the first call only after all others.
        if (index === 0 && submitted.size < most - 1) throw new ProblemError('quota_exceeded', 'no room');
        submitted.add(index);
        return { callId: idOf(index) };
      },
      head: ENDED,
    },
    hub: { watch: () => ({ ended: new Promise(() => {}), cancel: () => {} }) },
    failed: (_id, error) => void refusals.push(error),
  });
  expect(submitted.size).toBe(most);
  expect(refusals).not.toEqual([]);
});
