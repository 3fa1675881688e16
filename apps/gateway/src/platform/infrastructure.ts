import { once } from 'node:events';
import type { Provider } from '@nestjs/common';
import type { Logger } from 'pino';
import { POOLS } from '#contracts';
import { BlobStore, CallStore, CLAIM_WHEN_TAKEN, EventHub, EventLog, LogReader, LogTail, NoticeLog } from '#event-log';
import { HookRunner, HookSets } from '#hooks';
import { VERSION } from '#platform';
import { CallLimits } from '#limits';
import { createMetrics, type MetricsProbes } from '#observability';
import { CallIndex, Numbers, SessionList } from '#projection';
import { BullCallQueue } from '#queue';
import { createRedis, partitionName, type RedisConnection } from '#redis';
import { EgressPolicy } from '#sandbox';
import { ToolRegistry } from '#tool-sdk';
import { PendingApprovals } from '../approvals/pending-approvals.service.js';
import { subscriptionSources } from '../streaming/subscription-sources.js';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';
import { createLogger } from './logger.js';
import { BUFFERED_REDIS, LOGGER, METRICS, EXTRA_METRICS_PROBES, FAIL_FAST_REDIS } from './tokens.js';

/** Everything that is opened at the start; `shutdown.ts` closes it. */
export const infrastructure: Provider[] = [
  {
    provide: LOGGER,
    inject: [GATEWAY_CONFIG],
    useFactory: ({ logLevel, name, secrets }: GatewayConfig) => createLogger(logLevel, name, secrets),
  },
  {
    provide: BUFFERED_REDIS,
    inject: [GATEWAY_CONFIG],
    useFactory: ({ redisUrl }: GatewayConfig) => createRedis(redisUrl, { name: 'gateway' }),
  },
  { provide: FAIL_FAST_REDIS, inject: [GATEWAY_CONFIG], useFactory: ({ redisUrl }: GatewayConfig) => openFailFastRedis(redisUrl) },
  {
    provide: EventLog,
    inject: [BUFFERED_REDIS, GATEWAY_CONFIG],
    useFactory: (redis: RedisConnection, { partitions, durability, replicas, logDeadlineMs }: GatewayConfig) =>
      EventLog.open(redis, { partitions, durability, replicas, deadlineMs: logDeadlineMs }),
  },
  {
    provide: NoticeLog,
    inject: [FAIL_FAST_REDIS, GATEWAY_CONFIG],
    useFactory: (redis: RedisConnection, { partitions }: GatewayConfig) => new NoticeLog(redis, partitions),
  },
  {
    provide: CallStore,
    inject: [FAIL_FAST_REDIS],
    useFactory: (redis: RedisConnection) => new CallStore(redis),
  },
  { provide: LogReader, inject: [FAIL_FAST_REDIS], useFactory: (redis: RedisConnection) => new LogReader(redis) },
  ...[CallIndex, SessionList, Numbers].map((Query) => ({
    provide: Query,
    inject: [FAIL_FAST_REDIS, LogReader, GATEWAY_CONFIG],
    useFactory: (redis: RedisConnection, log: LogReader, { partitions }: GatewayConfig) => new Query(redis, log, partitions),
  })),
  { provide: BlobStore, inject: [FAIL_FAST_REDIS], useFactory: (redis: RedisConnection) => new BlobStore(redis) },
  {
    provide: CallLimits,
    inject: [FAIL_FAST_REDIS, CallStore],
    useFactory: (redis: RedisConnection, store: CallStore) =>
      new CallLimits(redis, (callIds) => Promise.all(callIds.map((callId) => stateOf(store, callId)))),
  },
  {
    provide: HookRunner,
    inject: [FAIL_FAST_REDIS, GATEWAY_CONFIG, LOGGER],
    useFactory: (redis: RedisConnection, { hookEnv = {}, env = {}, egress = new EgressPolicy() }: GatewayConfig, log: Logger) =>
      new HookRunner({
        redis,
        base: hookEnv,
        env,
        sessionEgress: egress,
        onFailure: (hook, error) => log.warn({ hook, err: error }, 'a hook failed'),
      }),
  },
  { provide: HookSets, inject: [FAIL_FAST_REDIS], useFactory: (redis: RedisConnection) => new HookSets(redis) },
  {
    provide: EventHub,
    inject: [BUFFERED_REDIS, CallStore, CallIndex, GATEWAY_CONFIG],
    useFactory: (redis: RedisConnection, store: CallStore, index: CallIndex, { redisUrl, partitions }: GatewayConfig) =>
      new EventHub(new LogTail({ redisUrl, partitions }), redis, subscriptionSources(store, index)),
  },
  {
    provide: BullCallQueue,
    inject: [GATEWAY_CONFIG, BUFFERED_REDIS],
    useFactory: ({ redisUrl, queueBackend }: GatewayConfig, redis: RedisConnection) =>
      new BullCallQueue({ redisUrl, backend: queueBackend, addOn: redis, whenTaken: { lua: CLAIM_WHEN_TAKEN } }),
  },
  {
    provide: METRICS,
    inject: [BullCallQueue, ToolRegistry, FAIL_FAST_REDIS, CallStore, PendingApprovals, GATEWAY_CONFIG, EXTRA_METRICS_PROBES],
    useFactory: (
      queue: BullCallQueue,
      tools: ToolRegistry,
      redis: RedisConnection,
      store: CallStore,
      approvals: PendingApprovals,
      { partitions }: GatewayConfig,
      more: MetricsProbes,
    ) =>
      createMetrics({
        role: 'gateway',
        version: VERSION,
        isKnownTool: (name) => tools.resolve(name)?.name === name,
        tools: () => tools.list(),
        probes: {
          queues: () => Promise.all(POOLS.map((pool) => queue.depth(pool))),
          redisMemoryInfo: () => redis.info('memory'),
          approvals: () => approvals.reading(),
          overdueMs: () => longestOverdueMs(store, partitions),
          ...more,
        },
      }),
  },
];

/** By this machine's clock, which is off by little against what it is for. */
async function longestOverdueMs(store: CallStore, partitions: number): Promise<number> {
  const names = Array.from({ length: partitions }, (_unused, index) => partitionName(index));
  const due = await Promise.all(names.map((partition) => store.due(partition, 1)));
  return Math.max(0, ...due.flat().map(({ score }) => Date.now() - score));
}

async function stateOf(store: CallStore, callId: string): Promise<'open' | 'ended' | 'gone'> {
  const head = await store.head(callId);
  return head === undefined ? 'gone' : head.status === 'ended' ? 'ended' : 'open';
}

/** A connection that queues nothing is of use only once it is there. */
async function openFailFastRedis(redisUrl: string): Promise<RedisConnection> {
  const redis = createRedis(redisUrl, { role: 'producer', name: 'gateway-prompt' });
  if (redis.status !== 'ready') await once(redis, 'ready');
  return redis;
}
