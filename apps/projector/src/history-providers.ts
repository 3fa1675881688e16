import type { Provider } from '@nestjs/common';
import type { Logger } from 'pino';
import type { ArchiveStore } from '#archive';
import { LogReader } from '#event-log';
import {
  ContentKeyStore,
  HistoryProjector,
  HistoryRetention,
  HourSummer,
  openHistoryDatabase,
  type HistoryDatabase,
  type RetentionPolicy,
  type SkippedEvent,
} from '#history';
import type { RedisConnection } from '#redis';
import { ArchivedLog } from '#sealing';
import type { ProjectorConfig } from './projector.config.js';
import { ARCHIVE, DATABASE, REDIS } from './projector.tokens.js';

/** Connections: one each for the batch, the table of a new week, sums, and retention. */
const CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 60_000;

/** Providers of the projection into the history. Each is undefined without a database. */
export function historyProviders({ databaseUrl, partitions }: ProjectorConfig, policy: () => RetentionPolicy, log: Logger): Provider[] {
  const onSkipped = (callId: string, err: unknown) =>
    log.error({ err, callId }, 'a call is missing from lists: the database refuses its row');
  const onSkippedEvent = ({ eventId, fault }: SkippedEvent) =>
    log.error({ eventId, fault }, 'an event of the log cannot be read and is in no row of the history');
  return [
    { provide: DATABASE, useFactory: () => databaseUrl && openDatabase(databaseUrl, log) },
    {
      provide: HistoryProjector,
      inject: [REDIS, ARCHIVE, DATABASE],
      useFactory: (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase) => {
        const reader = new LogReader(redis, store && new ArchivedLog(store, db && new ContentKeyStore(db)));
        return db && new HistoryProjector({ db, log: reader, partitions, onSkipped, onSkippedEvent });
      },
    },
    {
      provide: HourSummer,
      inject: [REDIS, DATABASE],
      useFactory: (redis: RedisConnection, db?: HistoryDatabase) => db && new HourSummer({ db, log: new LogReader(redis), partitions }),
    },
    {
      provide: HistoryRetention,
      inject: [DATABASE],
      useFactory: (db?: HistoryDatabase) => db && new HistoryRetention({ db, policy }),
    },
  ];
}

function openDatabase(url: string, log: Logger): HistoryDatabase {
  return openHistoryDatabase({
    url,
    name: 'toolyard-projector',
    connections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: (err) => log.warn({ err }, 'a connection to the history database was lost'),
  });
}
