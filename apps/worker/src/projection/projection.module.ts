import { Module } from '@nestjs/common';
import { LogReader } from '#event-log';
import { Projector } from '#projection';
import type { RedisConnection } from '#redis';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { BUFFERED_REDIS } from '../platform/worker.tokens.js';

/** Keeps lists and statistics up to date with the log. */
@Module({
  providers: [
    {
      provide: Projector,
      inject: [WORKER_CONFIG, BUFFERED_REDIS, LOGGER],
      useFactory: ({ id, partitions }: WorkerConfig, redis: RedisConnection, logger: WorkerLog) =>
        new Projector({
          id,
          redis,
          partitions,
          log: new LogReader(redis),
          onError: (error) => logger.warn({ err: error }, 'a step of the projection failed and is repeated'),
        }),
    },
  ],
})
export class ProjectionModule {}
