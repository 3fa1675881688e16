import type { Logger } from 'pino';
import { ProblemError } from '#contracts';
import { adminPartition } from '#event-log';
import {
  ActList,
  CallList,
  ContentKeyStore,
  ErasureStore,
  HistoryUnavailable,
  Numbers,
  SessionList,
  Usage,
  openHistoryDatabase,
  type HistoryDatabase,
  type LogSource,
} from '#history';

import type { CallQueries } from './call-queries.js';
import { HistoryUpgrade } from './history-upgrade.js';
import { TenantTurns } from './tenant-turns.js';

/** Database connections of a gateway; each query uses one. */
const CONNECTIONS = 10;
/** Limits of queries for lists and numbers. The other connections serve the keys of contents and erasures. */
const TURNS = { atOnce: 4, allAtOnce: 7, waiting: 60, what: 'questions over many calls' };
const STATEMENT_TIMEOUT_MS = 10_000;

const UNAVAILABLE =
  'The history database (DATABASE_URL) does not answer in time. Calls go on and single calls can be read; lists and numbers come back with the database.';

/** Opens the database and upgrades its tables in the background. `failed` gets the reason of a lost connection. */
export function openHistory(url: string, log: Logger, failed: (reason: string) => void) {
  const db = openHistoryDatabase({
    url,
    name: 'toolyard-gateway',
    connections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: ({ message }) => failed(message),
  });
  return { db, contentKeys: new ContentKeyStore(db), erasures: new ErasureStore(db), upgrade: new HistoryUpgrade(url, log) };
}

/**
 * Queries of the history. While the database is unreachable each one is answered 503 `history_unavailable`; `failed` gets the
 * reason. Concurrent queries of one tenant are queued.
 */
export function historyQueries(
  { db, upgrade }: { readonly db: HistoryDatabase; readonly upgrade: HistoryUpgrade },
  log: LogSource,
  partitions: number,
  failed: (reason: string) => void,
): CallQueries {
  const calls = new CallList(db, log, partitions);
  const sessions = new SessionList(db, log, partitions);
  const usage = new Usage(db, log, partitions);
  const acts = new ActList(db, log, (tenantId) => adminPartition(tenantId, partitions));
  const numbers = new Numbers(db, log, partitions);
  const turns = new TenantTurns(TURNS);
  const guarded = async <Answer>(tenantId: string, disconnect: AbortSignal | undefined, ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await turns.run(tenantId, ask, disconnect);
    } catch (error) {
      if (!(error instanceof HistoryUnavailable)) throw error;
      failed(error.message);
      throw new ProblemError('history_unavailable', upgrade.reasonFor(error) ?? UNAVAILABLE, { retryAfterMs: 2_000 });
    }
  };
  return {
    page: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => calls.page(tenantId, query)),
    count: (tenantId, filter, disconnect) => guarded(tenantId, disconnect, () => calls.count(tenantId, filter)),
    facets: (tenantId, filter, disconnect) => guarded(tenantId, disconnect, () => calls.facets(tenantId, filter)),
    sessions: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => sessions.page(tenantId, query)),
    stats: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => numbers.stats(tenantId, query)),
    tools: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => numbers.tools(tenantId, query)),
    failures: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => numbers.failures(tenantId, query)),
    usage: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => usage.of(tenantId, query)),
    acts: (tenantId, query, disconnect) => guarded(tenantId, disconnect, () => acts.page(tenantId, query)),
  };
}
