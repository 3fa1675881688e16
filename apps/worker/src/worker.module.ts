import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LeaseRenewer, Reconciler, SweeperLock, workerIdentity } from '#attempts';
import { BlobStore, CallStore, EventLog, LogReader, NoticeLog } from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import { Projector } from '#projection';
import { BullCallQueue, startConsumer } from '#queue';
import { createRedis, ContentAddressedStore, type RedisConnection } from '#redis';
import { type Tracing, telemetry } from '#observability';
import { Sandbox, SandboxRegistry, WorkspaceQuotas } from '#sandbox';
import { ToolRegistry } from '#tool-sdk';
import { ToolsModule } from '#tools';
import { CancelListener } from './attempts/cancel-listener.js';
import { systemClock } from './platform/clock.js';
import type { ExecuteDeps } from './attempts/execute-deps.js';
import { FileScope } from './attempts/file-scope.js';
import { InFlightAttempts } from './attempts/in-flight-attempts.js';
import { ToolCallProcessor } from './attempts/tool-call.processor.js';
import { Workspaces } from './attempts/workspaces.js';
import { HealthController } from './operations/health.controller.js';
import { ProblemFilter } from './operations/problem.filter.js';
import { infrastructure } from './platform/infrastructure.js';
import { Readiness } from './operations/readiness.js';
import { WorkerState } from './platform/worker-state.js';
import { WorkerHeartbeat } from './registry/worker-heartbeat.js';
import { DiskSpace } from './registry/disk-space.js';
import { workerStatus } from './registry/worker-status.js';
import { WORKER_CONFIG, type WorkerConfig } from './platform/worker.config.js';
import { RedactionSettingsService } from './attempts/redaction-settings.service.js';
import { LOGGER, type WorkerLog } from './platform/worker.logger.js';
import { AttemptTracer } from './attempts/attempt-tracer.js';
import { BUFFERED_REDIS, SPANS, type Spans } from './platform/worker.tokens.js';

/** How often a sweeper says that it still sweeps, times four. */
const SWEEP_LEASE_MS = 2_000;

const EXECUTE_DEPS = Symbol('EXECUTE_DEPS');

/** Jobs in, tools run, events out. */
const execution: Provider[] = [
  InFlightAttempts,
  {
    provide: EXECUTE_DEPS,
    inject: [
      WORKER_CONFIG,
      EventLog,
      BlobStore,
      ToolRegistry,
      LeaseRenewer,
      InFlightAttempts,
      WorkerState,
      LOGGER,
      CallStore,
      SPANS,
      HookSnapshotStore,
      HookRunner,
      BUFFERED_REDIS,
    ],
    useFactory: (
      config: WorkerConfig,
      log: EventLog,
      blobs: BlobStore,
      tools: ToolRegistry,
      leases: LeaseRenewer,
      running: InFlightAttempts,
      state: WorkerState,
      logger: WorkerLog,
      store: CallStore,
      { tracing }: Spans,
      hookSets: HookSnapshotStore,
      hooks: HookRunner,
      redis: RedisConnection,
    ): ExecuteDeps => ({
      config,
      log,
      blobs,
      redaction: new RedactionSettingsService(new ContentAddressedStore(redis), config.secrets),
      tools,
      leases,
      inFlight: running,
      logger,
      hookSnapshots: hookSets,
      hooks,
      workspaces: new Workspaces(
        config.workspaceRoot,
        new WorkspaceQuotas(config.quotas, (refusal) => telemetry.quotaRefused.emit(refusal)),
      ),
      files: new FileScope(config.files, new ContentAddressedStore(redis)),
      forcedShutdown: state.forcedShutdown,
      tracer: tracing && new AttemptTracer(tracing, store, config.id, tools),
      clock: systemClock,
      random: Math.random,
    }),
  },
  {
    provide: ToolCallProcessor,
    inject: [WORKER_CONFIG, BUFFERED_REDIS, BullCallQueue, CallStore, EXECUTE_DEPS, LOGGER],
    useFactory: (
      config: WorkerConfig,
      redis: RedisConnection,
      queue: BullCallQueue,
      store: CallStore,
      deps: ExecuteDeps,
      logger: WorkerLog,
    ) => {
      const { pools, redisUrl, queueBackend: backend, leaseMs: lockMs } = config;
      const dequeueHook = deps.log.claimOnDequeue(workerIdentity(config));
      const onError = (error: Error) => logger.error({ err: error }, 'the queue');
      return new ToolCallProcessor(
        pools,
        startConsumer({ redisUrl, backend, lockMs, connection: redis, dequeueHook, onError }),
        queue,
        store,
        deps,
      );
    },
  },
  {
    provide: CancelListener,
    inject: [WORKER_CONFIG, CallStore, InFlightAttempts, LOGGER],
    useFactory: ({ redisUrl, stopGraceMs }: WorkerConfig, store: CallStore, running: InFlightAttempts, logger: WorkerLog) =>
      new CancelListener(createRedis(redisUrl, { role: 'subscriber', name: 'worker-cancels' }), store, running, stopGraceMs, logger),
  },
];

/** What looks after calls that nobody moves on. */
const recovery: Provider[] = [
  {
    provide: Reconciler,
    inject: [WORKER_CONFIG, BUFFERED_REDIS, EventLog, CallStore, BullCallQueue, LOGGER, SPANS],
    useFactory: (
      { id, partitions }: WorkerConfig,
      redis: RedisConnection,
      log: EventLog,
      store: CallStore,
      queue: BullCallQueue,
      logger: WorkerLog,
      { tracing }: Spans,
    ) =>
      new Reconciler({
        workerId: id,
        partitions,
        redis,
        log,
        store,
        queue,
        logger,
        tracing,
        lock: new SweeperLock(redis, id, SWEEP_LEASE_MS),
      }),
  },
];

/** What keeps lists and numbers up to date with the log. */
const projection: Provider[] = [
  {
    provide: Projector,
    inject: [WORKER_CONFIG, BUFFERED_REDIS, LOGGER],
    useFactory: ({ id, partitions }: WorkerConfig, redis: RedisConnection, logger: WorkerLog) =>
      new Projector({
        id,
        redis,
        partitions,
        log: new LogReader(redis),
        onError: (error) => logger.warn({ err: error }, 'a step of the projection failed and is tried again'),
      }),
  },
];

/** Who this worker is, and whether it is there for calls. */
const presence: Provider[] = [
  WorkerState,
  {
    provide: Readiness,
    inject: [WorkerState, LeaseRenewer, BUFFERED_REDIS, BullCallQueue, CancelListener, ToolCallProcessor],
    useFactory: (
      state: WorkerState,
      leases: LeaseRenewer,
      redis: RedisConnection,
      queue: BullCallQueue,
      cancels: CancelListener,
      processor: ToolCallProcessor,
    ) => new Readiness(state, leases, () => [redis, ...queue.connections, cancels.subscriber, ...processor.connections]),
  },
  {
    provide: WorkerHeartbeat,
    inject: [WORKER_CONFIG, BUFFERED_REDIS, WorkerState, ToolCallProcessor, InFlightAttempts, SandboxRegistry, LOGGER],
    useFactory: (
      { id, partitions, workspaceRoot }: WorkerConfig,
      redis: RedisConnection,
      state: WorkerState,
      processor: ToolCallProcessor,
      running: InFlightAttempts,
      sandboxes: SandboxRegistry,
      logger: WorkerLog,
    ) => {
      const disk = new DiskSpace(workspaceRoot);
      return new WorkerHeartbeat(
        redis,
        new NoticeLog(redis, partitions),
        () => workerStatus(id, state, processor, running, sandboxes, disk),
        logger,
        () => {
          state.drain();
          // Ends with the last call that runs; a stop that comes later waits for it.
          processor.close().catch((error: unknown) => logger.error({ err: error }, 'the worker could not stop taking calls'));
        },
      );
    },
  },
];

@Module({})
export class WorkerModule {
  static async forRoot(config: WorkerConfig, logger: WorkerLog, tracing?: Tracing): Promise<DynamicModule> {
    const sandboxes = await SandboxRegistry.open(
      config.sandbox,
      config.pools.map(({ pool }) => pool),
    );
    for (const warning of sandboxes.warnings()) logger.warn(warning);
    return {
      module: WorkerModule,
      imports: [await ToolsModule.forRoot({ providers: [{ provide: Sandbox, useValue: sandboxes.for('shell') }] })],
      controllers: [HealthController],
      providers: [
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: WORKER_CONFIG, useValue: config },
        { provide: LOGGER, useValue: logger },
        { provide: SPANS, useValue: { tracing } satisfies Spans },
        { provide: SandboxRegistry, useValue: sandboxes },
        ...infrastructure,
        ...execution,
        ...recovery,
        ...projection,
        ...presence,
      ],
    };
  }
}
