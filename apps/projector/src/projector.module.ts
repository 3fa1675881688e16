import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { Logger } from 'pino';
import { openArchive, type ArchiveStore } from '#archive';
import { LogReader } from '#event-log';
import {
  ContentKeyStore,
  ErasureStore,
  HistoryProjector,
  HistoryRetention,
  HourSummer,
  isHeldBy,
  openHistoryDatabase,
  type HistoryDatabase,
  type SkippedEvent,
} from '#history';
import { createMetrics } from '#observability';
import { ProblemFilter, ProcessRegistration, VERSION } from '#platform';
import { createRedis, type RedisConnection } from '#redis';
import { ArchivedLog, Archiver, ArchiveRetention, Eraser, type CallOwner } from '#sealing';
import { cautiously } from './cautious-retention.js';
import { HealthController } from './health.controller.js';
import { openSignatures } from './open-signatures.js';
import type { ProjectorConfig } from './projector.config.js';
import { ARCHIVE, DATABASE, LOGGER, METRICS, PROJECTOR_CONFIG, REDIS } from './projector.tokens.js';
import { archiveRetention, erasableTenants, orLast, readRetention } from './retention.config.js';

/** One for the batch, one for the table of a new week, one for sums, one for retention. */
const CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 60_000;

/** Keeps the rows of the history up to date with the log, and moves what is over into the archive. `main.ts` starts and closes it. */
@Module({})
export class ProjectorModule {
  static forRoot(config: ProjectorConfig, logger: Logger): DynamicModule {
    const { id, redisUrl, databaseUrl, archiveUrl, hotWindow, partitions } = config;
    const policy = cautiously(() => readRetention(config));
    const onError = (error: unknown) => logger.warn({ err: error }, 'a step of the projector failed and is repeated');
    const onArchiveError = (error: unknown) => logger.error({ err: error }, 'a step of the archiver failed and is repeated');
    const onSkipped = (callId: string, error: unknown) =>
      logger.error({ err: error, callId }, 'a call stays out of lists: the database refuses its row');
    const onSkippedEvent = ({ eventId, fault }: SkippedEvent) =>
      logger.error({ eventId, fault }, 'an event of the log cannot be read and is in no row of the history');
    return {
      module: ProjectorModule,
      controllers: [HealthController],
      providers: [
        { provide: PROJECTOR_CONFIG, useValue: config },
        { provide: LOGGER, useValue: logger },
        { provide: APP_FILTER, useValue: new ProblemFilter(logger) },
        { provide: REDIS, useFactory: () => createRedis(redisUrl, { name: 'projector' }) },
        {
          provide: DATABASE,
          useFactory: () => {
            if (databaseUrl === undefined) return undefined;
            const limits = { connections: CONNECTIONS, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
            return openHistoryDatabase({ url: databaseUrl, name: 'toolyard-projector', ...limits, onError });
          },
        },
        {
          provide: HistoryProjector,
          inject: [REDIS, ARCHIVE, DATABASE],
          useFactory: (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase) => {
            const log = new LogReader(redis, store && new ArchivedLog(store, db && new ContentKeyStore(db)));
            return db && new HistoryProjector({ db, log, partitions, onError, onSkipped, onSkippedEvent });
          },
        },
        {
          provide: HourSummer,
          inject: [REDIS, DATABASE],
          useFactory: (redis: RedisConnection, db?: HistoryDatabase) =>
            db && new HourSummer({ db, log: new LogReader(redis), partitions, onError }),
        },
        { provide: ARCHIVE, useFactory: () => archiveUrl && openArchive(archiveUrl) },
        {
          provide: Archiver,
          inject: [REDIS, ARCHIVE, DATABASE],
          useFactory: async (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase) => {
            if (store === undefined) return undefined;
            const checkpointer = (await openSignatures(config, store))?.checkpointer;
            const known = orLast(policy, onArchiveError);
            const content = { keys: db && new ContentKeyStore(db), tenants: () => erasableTenants(known(), databaseUrl) };
            return new Archiver({ redis, store, partitions, hotWindow, checkpointer, content, onError: onArchiveError });
          },
        },
        {
          provide: ArchiveRetention,
          inject: [REDIS, ARCHIVE, DATABASE, HistoryRetention],
          useFactory: async (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase, rows?: HistoryRetention) => {
            const signer = store && (await openSignatures(config, store))?.drops;
            if (store === undefined || signer === undefined) return undefined;
            const failed = (error: unknown) =>
              logger.error({ err: error }, 'the retention of the archive failed; it is tried again in an hour');
            const days = () => archiveRetention(policy(), config.signingKeyFile);
            return new ArchiveRetention({
              redis,
              store,
              signer,
              keys: db && new ContentKeyStore(db),
              partitions,
              policy: days,
              deleteRows: rows && (() => rows.round()),
              onError: failed,
            });
          },
        },
        {
          provide: Eraser,
          inject: [REDIS, ARCHIVE, DATABASE],
          useFactory: (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase) => {
            if (store === undefined || db === undefined) return undefined;
            const holds = () => {
              const rules = policy();
              return (tenantId: string, owner?: CallOwner) => isHeldBy(rules, tenantId, owner);
            };
            const failed = (error: unknown) => logger.error({ err: error }, 'an erasure failed and is repeated');
            return new Eraser({
              redis,
              store,
              keys: new ContentKeyStore(db),
              erasures: new ErasureStore(db),
              holds,
              onError: failed,
            });
          },
        },
        {
          provide: HistoryRetention,
          inject: [DATABASE],
          useFactory: (db?: HistoryDatabase) => {
            const failed = (error: unknown) =>
              logger.error({ err: error }, 'the retention of the history failed; it is tried again in an hour');
            return db && new HistoryRetention({ db, policy, onError: failed });
          },
        },
        {
          provide: ProcessRegistration,
          inject: [REDIS],
          useFactory: (redis: RedisConnection) => new ProcessRegistration('projector', id, redis),
        },
        { provide: METRICS, useFactory: () => createMetrics({ role: 'projector', version: VERSION }) },
      ],
    };
  }
}
