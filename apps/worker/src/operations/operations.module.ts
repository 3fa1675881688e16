import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LeaseRenewer, ToolCallProcessor } from '#attempts';
import { POOLS } from '#contracts';
import { createMetrics } from '#observability';
import { ProblemFilter, VERSION } from '#platform';
import { BullCallQueue } from '#queue';
import { RedisMemory } from '#redis';
import { ToolRegistry } from '#tool-sdk';
import { AttemptsModule } from '../attempts/attempts.module.js';
import { LeasesModule } from '../leases/leases.module.js';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { WorkerState } from '../platform/worker-state.js';
import { METRICS } from '../platform/worker.tokens.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

/** Health, readiness and metrics. */
@Module({
  imports: [AttemptsModule, LeasesModule],
  controllers: [HealthController],
  providers: [
    { provide: APP_FILTER, inject: [LOGGER], useFactory: (log: WorkerLog) => new ProblemFilter(log) },
    {
      provide: Readiness,
      inject: [WorkerState, LeaseRenewer, WORKER_CONFIG],
      useFactory: (state: WorkerState, leases: LeaseRenewer, { redisUrl }: WorkerConfig) => new Readiness(state, leases, redisUrl),
    },
    {
      provide: METRICS,
      inject: [BullCallQueue, ToolRegistry, RedisMemory, ToolCallProcessor, WorkerState],
      useFactory: (queue: BullCallQueue, tools: ToolRegistry, memory: RedisMemory, processor: ToolCallProcessor, state: WorkerState) =>
        createMetrics({
          role: 'worker',
          version: VERSION,
          isKnownTool: (name) => tools.resolve(name)?.name === name,
          tools: () => tools.list(),
          probes: {
            queues: () => Promise.all(POOLS.map((pool) => queue.stats(pool))),
            slots: () => processor.slots().map(({ pool, slots, running }) => ({ pool, slots: state.draining ? 0 : slots, running })),
            redisMemory: () => memory.measure(),
          },
        }),
    },
  ],
})
export class OperationsModule {}
