import { Module } from '@nestjs/common';
import {
  type AttemptDependencies,
  AttemptTracer,
  CancelListener,
  InFlightAttempts,
  LeaseRenewer,
  RedactionSettingsService,
  systemClock,
  ToolCallProcessor,
  workerIdentity,
} from '#attempts';
import { BlobStore, CallStore, EventLog } from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import { telemetry } from '#observability';
import { limitRepeatedErrors } from '#platform';
import { BullCallQueue, startConsumer } from '#queue';
import { ContentAddressedStore, createRedis, RedisMemory, type RedisConnection } from '#redis';
import { RemoteHosts, SandboxRegistry, WorkspaceQuotas } from '#sandbox';
import { ToolRegistry } from '#tool-sdk';
import { LeasesModule } from '../leases/leases.module.js';
import { WorkerState } from '../platform/worker-state.js';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { BUFFERED_REDIS, SPANS, type Spans } from '../platform/worker.tokens.js';
import { EgressScope } from './egress-scope.js';
import { FileScope } from './file-scope.js';
import { Workspaces } from './workspaces.js';

const ATTEMPT_DEPENDENCIES = Symbol('ATTEMPT_DEPENDENCIES');

/** Dequeues jobs, runs tools, writes events. */
@Module({
  imports: [LeasesModule],
  providers: [
    InFlightAttempts,
    {
      provide: ATTEMPT_DEPENDENCIES,
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
        RedisMemory,
        RemoteHosts,
        SandboxRegistry,
      ],
      useFactory: (
        config: WorkerConfig,
        log: EventLog,
        blobs: BlobStore,
        tools: ToolRegistry,
        leases: LeaseRenewer,
        inFlight: InFlightAttempts,
        state: WorkerState,
        logger: WorkerLog,
        store: CallStore,
        { tracing }: Spans,
        snapshots: HookSnapshotStore,
        hooks: HookRunner,
        redis: RedisConnection,
        memory: RedisMemory,
        hosts: RemoteHosts,
        sandboxes: SandboxRegistry,
      ): AttemptDependencies => ({
        config,
        log,
        blobs,
        redaction: new RedactionSettingsService(new ContentAddressedStore(redis), config.secrets),
        tools,
        leases,
        memory,
        inFlight,
        logger,
        hookSnapshots: snapshots,
        hooks,
        workspaces: new Workspaces(
          config.workspaceRoot,
          new WorkspaceQuotas(config.quotas, (refusal) => telemetry.quotaRefused.emit(refusal)),
          hosts,
          sandboxes.for('shell'),
        ),
        files: new FileScope(config.files, new ContentAddressedStore(redis)),
        egress: new EgressScope(new ContentAddressedStore(redis)),
        forcedShutdown: state.forcedShutdown,
        tracer: tracing && new AttemptTracer(tracing, store, config.id, tools),
        clock: systemClock,
        random: Math.random,
      }),
    },
    {
      provide: ToolCallProcessor,
      inject: [WORKER_CONFIG, BUFFERED_REDIS, BullCallQueue, CallStore, ATTEMPT_DEPENDENCIES, LOGGER],
      useFactory: (
        config: WorkerConfig,
        redis: RedisConnection,
        queue: BullCallQueue,
        store: CallStore,
        deps: AttemptDependencies,
        logger: WorkerLog,
      ) => {
        const { id: workerName, pools, redisUrl, queueBackend: backend, leaseMs: lockMs } = config;
        const dequeueHook = deps.log.claimOnDequeue(workerIdentity(config));
        const onError = limitRepeatedErrors((facts) => logger.error(facts, 'the queue consumer failed'));
        return new ToolCallProcessor(
          pools,
          startConsumer({ redisUrl, workerName, backend, lockMs, connection: redis, dequeueHook, onError }),
          queue,
          store,
          deps,
        );
      },
    },
    {
      provide: CancelListener,
      inject: [WORKER_CONFIG, CallStore, InFlightAttempts, LOGGER],
      useFactory: ({ redisUrl, stopGraceMs }: WorkerConfig, store: CallStore, inFlight: InFlightAttempts, logger: WorkerLog) =>
        new CancelListener(createRedis(redisUrl, { role: 'subscriber', name: 'worker-cancels' }), store, inFlight, stopGraceMs, logger),
    },
  ],
  exports: [InFlightAttempts, ToolCallProcessor, CancelListener],
})
export class AttemptsModule {}
