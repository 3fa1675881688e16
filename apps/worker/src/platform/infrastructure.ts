import type { Provider } from '@nestjs/common';
import { LeaseRenewer, renewInThread } from '#attempts';
import { POOLS } from '#contracts';
import { BlobStore, CallStore, EventLog } from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import { VERSION } from '#platform';
import { createMetrics } from '#observability';
import { BullCallQueue } from '#queue';
import { createRedis, type RedisConnection } from '#redis';
import { ToolRegistry } from '#tool-sdk';
import { ToolCallProcessor } from '../attempts/tool-call.processor.js';
import { WorkerState } from './worker-state.js';
import { LOGGER, type WorkerLog } from './worker.logger.js';
import { WORKER_CONFIG, type WorkerConfig } from './worker.config.js';
import { BUFFERED_REDIS, METRICS } from './worker.tokens.js';

/** What the worker stands on, opened at the start; `shutdown.ts` closes it. Redis was reached and its log fits. */
export const infrastructure: Provider[] = [
  {
    provide: BUFFERED_REDIS,
    inject: [WORKER_CONFIG],
    useFactory: ({ redisUrl }: WorkerConfig) => createRedis(redisUrl, { name: 'worker' }),
  },
  {
    provide: EventLog,
    inject: [BUFFERED_REDIS, WORKER_CONFIG],
    useFactory: (redis: RedisConnection, { partitions, durability, replicas }: WorkerConfig) =>
      EventLog.open(redis, { partitions, durability, replicas }),
  },
  {
    provide: CallStore,
    inject: [BUFFERED_REDIS],
    useFactory: (redis: RedisConnection) => new CallStore(redis),
  },
  { provide: BlobStore, inject: [BUFFERED_REDIS], useFactory: (redis: RedisConnection) => new BlobStore(redis) },
  {
    provide: BullCallQueue,
    inject: [WORKER_CONFIG],
    useFactory: ({ redisUrl, queueBackend }: WorkerConfig) => new BullCallQueue({ redisUrl, backend: queueBackend }),
  },
  {
    provide: LeaseRenewer,
    inject: [WORKER_CONFIG, LOGGER],
    useFactory: ({ redisUrl, partitions, leaseMs, pools }: WorkerConfig, logger: WorkerLog) =>
      new LeaseRenewer(leaseRows(pools), renewInThread({ redisUrl, partitions, leaseMs, name: 'worker' }), (error) =>
        logger.error({ err: error }, 'leases are not renewed; trying again'),
      ),
  },
  { provide: HookSnapshotStore, inject: [BUFFERED_REDIS], useFactory: (redis: RedisConnection) => new HookSnapshotStore(redis) },
  {
    provide: HookRunner,
    inject: [BUFFERED_REDIS, WORKER_CONFIG, LOGGER],
    useFactory: (redis: RedisConnection, { toolEnv, env, egress }: WorkerConfig, logger: WorkerLog) =>
      new HookRunner({
        redis,
        base: toolEnv,
        env,
        sessionEgress: egress,
        onFailure: (hook, error) => logger.warn({ hook, err: error }, 'a hook failed'),
      }),
  },
  {
    provide: METRICS,
    inject: [BullCallQueue, ToolRegistry, BUFFERED_REDIS, ToolCallProcessor, WorkerState],
    useFactory: (queue: BullCallQueue, tools: ToolRegistry, redis: RedisConnection, processor: ToolCallProcessor, state: WorkerState) =>
      createMetrics({
        role: 'worker',
        version: VERSION,
        isKnownTool: (name) => tools.resolve(name)?.name === name,
        tools: () => tools.list(),
        probes: {
          queues: () => Promise.all(POOLS.map((pool) => queue.stats(pool))),
          slots: () => processor.slots().map(({ pool, slots, running }) => ({ pool, slots: state.draining ? 0 : slots, running })),
          redisMemoryInfo: () => redis.info('memory'),
        },
      }),
  },
];

/** One row a slot, and as many again for attempts that are being given up. */
function leaseRows(pools: WorkerConfig['pools']): number {
  return 2 * pools.reduce((sum, { slots }) => sum + slots, 0) + 64;
}
