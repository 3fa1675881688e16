import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { BlobStore, CallStore, EventLog, type LogArchive, type WokenCall } from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import type { Tracing } from '#observability';
import { Memory } from '#memory';
import { logDiskFault, ProcessRegistration } from '#platform';
import { GatewayRequests, BullCallQueue, dispatchWoken } from '#queue';
import { createRedis, RedisMemory, type RedisConnection } from '#redis';
import { RemoteHosts, SandboxRegistry } from '#sandbox';
import { WorkerState } from './worker-state.js';
import { LOGGER, type WorkerLog } from './worker.logger.js';
import { openMemory } from './open-memory.js';
import { WORKER_CONFIG, type WorkerConfig } from './worker.config.js';
import { BUFFERED_REDIS, LOG_ARCHIVE, WAIT_REDIS, SPANS, type Spans } from './worker.tokens.js';

/** Connections, opened at start after Redis has answered and its log has a supported format. `shutdown.ts` closes them. */
const connections: Provider[] = [
  {
    provide: BUFFERED_REDIS,
    inject: [WORKER_CONFIG],
    useFactory: ({ redisUrl }: WorkerConfig) => createRedis(redisUrl, { name: 'worker' }),
  },
  {
    provide: WAIT_REDIS,
    inject: [BUFFERED_REDIS, WORKER_CONFIG],
    useFactory: (shared: RedisConnection, { redisUrl, durability }: WorkerConfig) =>
      durability === 'local' ? shared : createRedis(redisUrl, { name: 'worker-replicas', waits: true }),
  },
  { provide: RedisMemory, inject: [BUFFERED_REDIS], useFactory: (redis: RedisConnection) => new RedisMemory(redis) },
  {
    provide: EventLog,
    inject: [BUFFERED_REDIS, WAIT_REDIS, BullCallQueue, WORKER_CONFIG, LOGGER],
    useFactory: (
      redis: RedisConnection,
      waitConnection: RedisConnection,
      queue: BullCallQueue,
      config: WorkerConfig,
      logger: WorkerLog,
    ) => {
      const { partitions, durability, replicas, tenantCallBytes } = config;
      const onWoken = (call: WokenCall) => dispatchWoken(queue, call);
      return new EventLog(redis, {
        partitions,
        durability,
        replicas,
        tenantCallBytes,
        waitConnection,
        onWoken,
        onDiskFault: logDiskFault(logger),
      });
    },
  },
  {
    provide: LOG_ARCHIVE,
    inject: [WORKER_CONFIG],
    useFactory: async ({ archiveUrl }: WorkerConfig) => archiveUrl && (await import('#sealing')).openArchivedLog(archiveUrl),
  },
  ...[CallStore, BlobStore].map((Store) => ({
    provide: Store,
    inject: [BUFFERED_REDIS, LOG_ARCHIVE],
    useFactory: (redis: RedisConnection, archive?: LogArchive) => new Store(redis, archive),
  })),
  {
    provide: BullCallQueue,
    inject: [WORKER_CONFIG],
    useFactory: ({ redisUrl, queueBackend }: WorkerConfig) => new BullCallQueue({ redisUrl, backend: queueBackend }),
  },
  {
    provide: GatewayRequests,
    inject: [WORKER_CONFIG],
    useFactory: ({ redisUrl }: WorkerConfig) => new GatewayRequests(redisUrl),
  },
  {
    provide: Memory,
    inject: [WORKER_CONFIG, LOGGER],
    useFactory: ({ memory, egress }: WorkerConfig, logger: WorkerLog) =>
      memory && openMemory(memory, egress, (error) => logger.warn({ err: error }, 'the memory of tools failed')),
  },
  {
    provide: ProcessRegistration,
    inject: [WORKER_CONFIG, BUFFERED_REDIS],
    useFactory: ({ id, tenantCallBytes }: WorkerConfig, redis: RedisConnection) =>
      new ProcessRegistration('worker', id, redis, { tenantCallBytes }),
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
        log: (facts, message) => logger.warn(facts, message),
      }),
  },
];

export interface PlatformOptions {
  readonly config: WorkerConfig;
  readonly logger: WorkerLog;
  readonly sandboxes: SandboxRegistry;
  readonly hosts: RemoteHosts;
  readonly tracing: Tracing | undefined;
}

/** Shared providers of the worker: config, logger, Redis, log, queue, hooks, sandboxes and the state of the process. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot({ config, logger, sandboxes, hosts, tracing }: PlatformOptions): DynamicModule {
    const providers: Provider[] = [
      { provide: WORKER_CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: SPANS, useValue: { tracing } satisfies Spans },
      { provide: SandboxRegistry, useValue: sandboxes },
      { provide: RemoteHosts, useValue: hosts },
      WorkerState,
      ...connections,
    ];
    return { module: PlatformModule, providers, exports: providers };
  }
}
