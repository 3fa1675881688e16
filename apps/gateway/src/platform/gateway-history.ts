import type { Logger } from 'pino';
import type { LogReader } from '#event-log';
import type { ContentKeyStore, ErasureStore } from '#history';
import { ProblemError } from '#contracts';
import { noQueries, type CallQueries } from './call-queries.js';
import type { GatewayConfig } from './gateway.config.js';

/** Data of a gateway in the history database. */
export interface GatewayHistory {
  /** Keys of encrypted content in the archive; undefined without a database. */
  readonly contentKeys: Pick<ContentKeyStore, 'read'> | undefined;
  readonly erasures: ErasureStore | undefined;
  queries(reader: LogReader): CallQueries;
  close(): Promise<void>;
}

/** Problem for data of single calls that only the database has. */
export function historyUnavailable(cause?: unknown): ProblemError {
  if (cause === undefined)
    return new ProblemError('history_unavailable', 'This gateway has no history database, which has the keys of calls: set DATABASE_URL');
  const text = 'The history database (DATABASE_URL), which has the keys of calls, does not answer in time';
  return new ProblemError('history_unavailable', text, { retryAfterMs: 2_000 });
}

export async function openGatewayHistory({ databaseUrl, partitions }: GatewayConfig, log: Logger): Promise<GatewayHistory> {
  if (databaseUrl === undefined) return { contentKeys: undefined, erasures: undefined, queries: noQueries, close: () => Promise.resolve() };
  // Loaded on use: the query builder is a tenth of all files of a gateway.
  const { historyQueries, openHistory } = await import('./history-queries.js');
  const failed = (reason: string) => log.warn({ reason }, 'the history database failed');
  const history = openHistory(databaseUrl, log, failed);
  const { db, contentKeys, erasures, upgrade } = history;
  return {
    contentKeys: {
      read: (callIds) =>
        contentKeys.read(callIds).catch((error: unknown) => {
          failed(error instanceof Error ? error.message : String(error));
          throw historyUnavailable(error);
        }),
    },
    erasures,
    queries: (reader) => historyQueries(history, reader, partitions, failed),
    close: async () => {
      await Promise.all([upgrade.close(), db.destroy()]);
    },
  };
}
