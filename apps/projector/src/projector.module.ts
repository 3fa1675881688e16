import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { Logger } from 'pino';
import { LogGrowth } from '#event-log';
import { HistoryProjector, HistoryRetention, HourSummer } from '#history';
import { createMetrics } from '#observability';
import { ProblemFilter, ProcessRegistration, VERSION } from '#platform';
import { createRedis, partitionNames, type RedisConnection } from '#redis';
import { Archiver, ArchiveRetention, Eraser } from '#sealing';
import { archiveProviders } from './archive-providers.js';
import { cautiously } from './cautious-retention.js';
import { HealthController } from './health.controller.js';
import { historyProviders } from './history-providers.js';
import type { ProjectorConfig } from './projector.config.js';
import { projectorLoops } from './projector-loops.js';
import { LOGGER, LOOPS, METRICS, PROJECTOR_CONFIG, REDIS } from './projector.tokens.js';
import { readRetention } from './retention.config.js';

/** Projects the log into the history, and archives ended calls. `main.ts` starts and closes it. */
@Module({})
export class ProjectorModule {
  static forRoot(config: ProjectorConfig, logger: Logger): DynamicModule {
    const policy = cautiously(() => readRetention(config));
    return {
      module: ProjectorModule,
      controllers: [HealthController],
      providers: [
        { provide: PROJECTOR_CONFIG, useValue: config },
        { provide: LOGGER, useValue: logger },
        { provide: APP_FILTER, useValue: new ProblemFilter(logger) },
        {
          provide: METRICS,
          useFactory: () => createMetrics({ role: 'projector', version: VERSION, partitions: partitionNames(config.partitions) }),
        },
        { provide: REDIS, useFactory: () => createRedis(config.redisUrl, { name: 'projector' }) },
        ...historyProviders(config, policy, logger),
        ...archiveProviders(config, policy, logger),
        {
          provide: LOOPS,
          inject: [REDIS, HistoryProjector, HourSummer, HistoryRetention, Archiver, ArchiveRetention, Eraser],
          useFactory: (
            redis: RedisConnection,
            projector?: HistoryProjector,
            summer?: HourSummer,
            retention?: HistoryRetention,
            archiver?: Archiver,
            archiveRetention?: ArchiveRetention,
            eraser?: Eraser,
          ) => {
            const { redisUrl, partitions } = config;
            const growth = () => new LogGrowth({ redisUrl, redis, partitions });
            return projectorLoops({ projector, summer, retention, archiver, archiveRetention, eraser }, growth, logger);
          },
        },
        {
          provide: ProcessRegistration,
          inject: [REDIS],
          useFactory: (redis: RedisConnection) => new ProcessRegistration('projector', config.id, redis),
        },
      ],
    };
  }
}
