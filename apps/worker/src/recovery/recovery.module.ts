import { Module } from '@nestjs/common';
import { Reconciler, SweeperLock } from '#attempts';
import { CallStore, EventLog, LogGrowth } from '#event-log';
import { limitRepeatedErrors } from '#platform';
import { BullCallQueue } from '#queue';
import type { RedisConnection } from '#redis';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { BUFFERED_REDIS, SPANS, type Spans } from '../platform/worker.tokens.js';

/** Lifetime of the sweeper's lock, which is renewed four times within it. */
const SWEEPER_LOCK_MS = 2_000;

/** Dispatches or ends calls whose timer is due, for example those of lost workers. */
@Module({
  providers: [
    {
      provide: Reconciler,
      inject: [WORKER_CONFIG, BUFFERED_REDIS, EventLog, CallStore, BullCallQueue, LOGGER, SPANS],
      useFactory: (
        { id, partitions, redisUrl }: WorkerConfig,
        redis: RedisConnection,
        log: EventLog,
        store: CallStore,
        queue: BullCallQueue,
        logger: WorkerLog,
        { tracing }: Spans,
      ) => {
        const errors = limitRepeatedErrors(
          (facts) => logger.warn(facts, 'a sweep over due calls failed and is repeated'),
          (facts) => logger.info(facts, 'sweeps over due calls work again'),
        );
        return new Reconciler({
          workerId: id,
          partitions,
          redis,
          log,
          store,
          queue,
          logger,
          tracing,
          lock: new SweeperLock(redis, id, SWEEPER_LOCK_MS),
          growth: new LogGrowth({ redisUrl, redis, partitions }),
          onSweep: (error) => (error === undefined ? errors.over() : errors(error)),
        });
      },
    },
  ],
})
export class RecoveryModule {}
