import type { Provider } from '@nestjs/common';
import type { Logger } from 'pino';
import { openArchive, type ArchiveStore } from '#archive';
import { ContentKeyStore, ErasureStore, HistoryRetention, isHeldBy, type HistoryDatabase, type RetentionPolicy } from '#history';
import type { RedisConnection } from '#redis';
import { Archiver, ArchiveRetention, Eraser, type CallOwner } from '#sealing';
import { openSignatures } from './open-signatures.js';
import type { ProjectorConfig } from './projector.config.js';
import { ARCHIVE, DATABASE, REDIS } from './projector.tokens.js';
import { archiveRetention, erasableTenants, orLast } from './retention.config.js';

/** Providers of archiving and of retention in the archive. Each is undefined without an archive. */
export function archiveProviders(config: ProjectorConfig, policy: () => RetentionPolicy, log: Logger): Provider[] {
  const { archiveUrl, databaseUrl, partitions, hotWindow, signingKeyFile } = config;
  return [
    { provide: ARCHIVE, useFactory: () => archiveUrl && openArchive(archiveUrl) },
    {
      provide: Archiver,
      inject: [REDIS, ARCHIVE, DATABASE],
      useFactory: async (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase) => {
        if (store === undefined) return undefined;
        const checkpointer = (await openSignatures(config, store))?.checkpointer;
        const lastPolicy = orLast(policy, (err) =>
          log.error({ err }, 'the retention cannot be read; the archiver continues with the last one'),
        );
        const content = { keys: db && new ContentKeyStore(db), tenants: () => erasableTenants(lastPolicy(), databaseUrl) };
        return new Archiver({ redis, store, partitions, hotWindow, checkpointer, content });
      },
    },
    {
      provide: ArchiveRetention,
      inject: [REDIS, ARCHIVE, DATABASE, HistoryRetention],
      useFactory: async (redis: RedisConnection, store?: ArchiveStore, db?: HistoryDatabase, rows?: HistoryRetention) => {
        const signer = store && (await openSignatures(config, store))?.drops;
        if (store === undefined || signer === undefined) return undefined;
        const keys = db && new ContentKeyStore(db);
        const days = () => archiveRetention(policy(), signingKeyFile);
        return new ArchiveRetention({ redis, store, signer, keys, partitions, policy: days, deleteRows: rows && (() => rows.round()) });
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
        return new Eraser({ redis, store, keys: new ContentKeyStore(db), erasures: new ErasureStore(db), holds });
      },
    },
  ];
}
