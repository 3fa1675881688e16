import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { Logger } from 'pino';
import {
  BlobStore,
  CallStore,
  CLAIM_ON_DEQUEUE,
  EventHub,
  EventLog,
  LogReader,
  type LogArchive,
  LogTail,
  SystemEventLog,
  type WokenCall,
} from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import { createLogger, logDiskFault, ProcessRegistration } from '#platform';
import { CallLimits } from '#limits';
import { BullCallQueue, dispatchWoken } from '#queue';
import { createRedis, RedisMemory, type RedisConnection } from '#redis';
import { EgressPolicy } from '#sandbox';
import type { CallQueries } from './call-queries.js';
import { DurableWrites } from './durable-writes.service.js';
import { FairTurns } from './fair-turns.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';
import { openGatewayHistory, type GatewayHistory } from './gateway-history.js';
import { GatewayProblemFilter } from './http/gateway-problem.filter.js';
import { MemoryGuard } from './memory-guard.service.js';
import { NotificationChannel } from './notification-channel.service.js';
import { ShutdownState } from './shutdown-state.service.js';
import { subscriptionSources } from './subscription-sources.js';
import { BUFFERED_REDIS, CALL_QUERIES, DURABLE_REDIS, FAIL_FAST_REDIS, HISTORY, LOG_ARCHIVE, LOGGER, WAIT_REDIS } from './tokens.js';

const connections: Provider[] = [
  {
    provide: BUFFERED_REDIS,
    inject: [GATEWAY_CONFIG],
    useFactory: ({ redisUrl }: GatewayConfig) => createRedis(redisUrl, { name: 'gateway' }),
  },
  {
    provide: FAIL_FAST_REDIS,
    inject: [GATEWAY_CONFIG],
    useFactory: ({ redisUrl }: GatewayConfig) => createRedis(redisUrl, { role: 'producer', name: 'gateway-prompt' }),
  },
  {
    provide: WAIT_REDIS,
    inject: [BUFFERED_REDIS, GATEWAY_CONFIG],
    useFactory: (shared: RedisConnection, { redisUrl, durability }: GatewayConfig) =>
      durability === 'local' ? shared : createRedis(redisUrl, { name: 'gateway-replicas', waits: true }),
  },
  {
    provide: DURABLE_REDIS,
    inject: [FAIL_FAST_REDIS, GATEWAY_CONFIG],
    useFactory: (shared: RedisConnection, { redisUrl, durability }: GatewayConfig) =>
      durability === 'local' ? shared : createRedis(redisUrl, { role: 'producer', name: 'gateway-durable', waits: true }),
  },
];

const log: Provider[] = [
  {
    provide: EventLog,
    inject: [BUFFERED_REDIS, WAIT_REDIS, BullCallQueue, GATEWAY_CONFIG, LOGGER],
    useFactory: (redis: RedisConnection, waitConnection: RedisConnection, queue: BullCallQueue, config: GatewayConfig, logger: Logger) => {
      const { partitions, durability, replicas, logDeadlineMs: deadlineMs, tenantCallBytes } = config;
      const onWoken = (call: WokenCall) => dispatchWoken(queue, call);
      const onDiskFault = logDiskFault(logger);
      return new EventLog(redis, { partitions, durability, replicas, waitConnection, deadlineMs, onWoken, onDiskFault, tenantCallBytes });
    },
  },
  {
    provide: SystemEventLog,
    inject: [FAIL_FAST_REDIS, GATEWAY_CONFIG],
    useFactory: (redis: RedisConnection, { partitions }: GatewayConfig) => new SystemEventLog(redis, partitions),
  },
  { provide: HISTORY, inject: [GATEWAY_CONFIG, LOGGER], useFactory: openGatewayHistory },
  {
    provide: LOG_ARCHIVE,
    inject: [GATEWAY_CONFIG, HISTORY],
    useFactory: async ({ archiveUrl }: GatewayConfig, { contentKeys }: GatewayHistory) =>
      archiveUrl && (await import('#sealing')).openArchivedLog(archiveUrl, contentKeys),
  },
  ...[CallStore, LogReader, BlobStore].map((Store) => ({
    provide: Store,
    inject: [FAIL_FAST_REDIS, LOG_ARCHIVE],
    useFactory: (redis: RedisConnection, archive?: LogArchive) => new Store(redis, archive),
  })),
  {
    provide: CALL_QUERIES,
    inject: [LogReader, HISTORY],
    useFactory: (reader: LogReader, history: GatewayHistory) => history.queries(reader),
  },
  {
    provide: EventHub,
    inject: [BUFFERED_REDIS, CallStore, CALL_QUERIES, GATEWAY_CONFIG, LOG_ARCHIVE],
    useFactory: (
      redis: RedisConnection,
      store: CallStore,
      queries: CallQueries,
      { redisUrl, partitions }: GatewayConfig,
      archive?: LogArchive,
    ) => new EventHub(new LogTail({ redisUrl, partitions }), redis, subscriptionSources(store, queries), archive),
  },
];

const queue: Provider[] = [
  {
    provide: BullCallQueue,
    inject: [GATEWAY_CONFIG, BUFFERED_REDIS],
    useFactory: ({ redisUrl, queueBackend }: GatewayConfig, redis: RedisConnection) =>
      new BullCallQueue({ redisUrl, backend: queueBackend, producerConnection: redis, dequeueHook: { lua: CLAIM_ON_DEQUEUE } }),
  },
];

const registration: Provider = {
  provide: ProcessRegistration,
  inject: [GATEWAY_CONFIG, BUFFERED_REDIS],
  useFactory: ({ name, tenantCallBytes }: GatewayConfig, redis: RedisConnection) =>
    new ProcessRegistration('gateway', name, redis, { tenantCallBytes }),
};

const governance: Provider[] = [
  {
    provide: CallLimits,
    inject: [FAIL_FAST_REDIS, CallStore],
    useFactory: (redis: RedisConnection, store: CallStore) =>
      new CallLimits(redis, (callIds) => Promise.all(callIds.map((callId) => stateOf(store, callId)))),
  },
  {
    provide: HookRunner,
    inject: [FAIL_FAST_REDIS, GATEWAY_CONFIG, LOGGER],
    useFactory: (redis: RedisConnection, { hookEnv = {}, env = {}, egress = new EgressPolicy() }: GatewayConfig, logger: Logger) =>
      new HookRunner({
        redis,
        base: hookEnv,
        env,
        sessionEgress: egress,
        log: (facts, message) => logger.warn(facts, message),
      }),
  },
  { provide: HookSnapshotStore, inject: [FAIL_FAST_REDIS], useFactory: (redis: RedisConnection) => new HookSnapshotStore(redis) },
];

const logger: Provider = {
  provide: LOGGER,
  inject: [GATEWAY_CONFIG],
  useFactory: ({ log, name, secrets }: GatewayConfig) => createLogger({ ...log, base: { app: 'gateway', name }, secrets }),
};

/**
 * Configuration, logger, connections to Redis, and the libraries that use them, for every feature. Imports libraries only.
 * `shutdown.ts` closes them: the order across features, and a time limit for each step, need one place, which Nest's lifecycle
 * hooks do not have.
 */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(config: GatewayConfig): DynamicModule {
    const shared = [
      { provide: GATEWAY_CONFIG, useValue: config },
      logger,
      ...connections,
      ...log,
      ...queue,
      ...governance,
      registration,
      { provide: RedisMemory, inject: [FAIL_FAST_REDIS], useFactory: (redis: RedisConnection) => new RedisMemory(redis) },
      MemoryGuard,
      FairTurns,
      DurableWrites,
      NotificationChannel,
      ShutdownState,
    ];
    return { module: PlatformModule, providers: [...shared, { provide: APP_FILTER, useClass: GatewayProblemFilter }], exports: shared };
  }
}

async function stateOf(store: CallStore, callId: string): Promise<'open' | 'ended' | 'gone'> {
  const head = await store.snapshot(callId);
  return head === undefined ? 'gone' : head.status === 'ended' ? 'ended' : 'open';
}
