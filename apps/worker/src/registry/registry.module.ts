import { Module } from '@nestjs/common';
import { InFlightAttempts, ToolCallProcessor } from '#attempts';
import { SystemEventLog } from '#event-log';
import { Memory } from '#memory';
import type { RedisConnection } from '#redis';
import { RemoteHosts, SandboxRegistry } from '#sandbox';
import { AttemptsModule } from '../attempts/attempts.module.js';
import { WorkerState } from '../platform/worker-state.js';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { BUFFERED_REDIS } from '../platform/worker.tokens.js';
import { DiskSpace } from './disk-space.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';
import { partsOf, workerStatus } from './worker-status.js';

/** Registers this worker for `GET /v1/workers`, and receives requests to drain it. */
@Module({
  imports: [AttemptsModule],
  providers: [
    {
      provide: WorkerHeartbeat,
      inject: [
        WORKER_CONFIG,
        BUFFERED_REDIS,
        WorkerState,
        ToolCallProcessor,
        InFlightAttempts,
        SandboxRegistry,
        RemoteHosts,
        LOGGER,
        { token: Memory, optional: true },
      ],
      useFactory: (
        { id, partitions, workspaceRoot, browser, languageServers }: WorkerConfig,
        redis: RedisConnection,
        state: WorkerState,
        processor: ToolCallProcessor,
        inFlight: InFlightAttempts,
        sandboxes: SandboxRegistry,
        hosts: RemoteHosts,
        logger: WorkerLog,
        memory?: Memory,
      ) => {
        const disk = new DiskSpace(workspaceRoot);
        const parts = () => partsOf(memory, { browser, languageServers }, sandboxes);
        return new WorkerHeartbeat(
          redis,
          new SystemEventLog(redis, partitions),
          () => workerStatus(id, state, processor, inFlight, { sandboxes, hosts }, disk, parts()),
          logger,
          () => {
            state.drain();
            // Resolves with the last running call. A later shutdown waits for the same promise.
            processor.close().catch((error: unknown) => logger.error({ err: error }, 'the worker could not stop taking jobs'));
          },
        );
      },
    },
  ],
})
export class RegistryModule {}
