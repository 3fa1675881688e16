import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { HistoryTables } from './tables.js';

export type HistoryDatabase = Kysely<HistoryTables>;

/** Schema of the tables of the history, so that they may share a database with others. */
export const SCHEMA = 'toolyard';

const CONNECT_TIMEOUT_MS = 5_000;
/** Time after the server's time-out at which this process abandons a statement: an unreachable server ends none. */
const GRACE_MS = 2_000;

// Counts and sums are below 2^53, and therefore numbers, not texts.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

export interface HistoryDatabaseOptions {
  /** `postgres://user@host:port/database`; options after `?` as in libpq, such as `host=/folder/of/the/socket`. */
  readonly url: string;
  /** Name in `pg_stat_activity`. */
  readonly name: string;
  /** Most connections. */
  readonly connections: number;
  /** Milliseconds after which the server ends a statement, and an idle transaction. */
  readonly statementTimeoutMs: number;
  /** Called after the loss of an idle connection; the pool opens others. */
  readonly onError: (error: HistoryUnavailable) => void;
}

/**
 * Opens a pool of connections; none is made before the first query. Commits do not wait for the disk: after a crash of the
 * server the projector reads the log again from the position in the same transaction.
 */
export function openHistoryDatabase(options: HistoryDatabaseOptions): HistoryDatabase {
  return openDatabase<HistoryTables>({ ...options, schema: SCHEMA, durable: false });
}

/** Opens a pool for the tables of another schema. `durable`: commits wait for the disk of the server. */
export function openDatabase<Tables>(
  options: HistoryDatabaseOptions & { readonly schema: string; readonly durable: boolean },
): Kysely<Tables> {
  const { url, name, connections, statementTimeoutMs, onError, schema, durable } = options;
  const durability = durable ? '' : '-c synchronous_commit=off ';
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + GRACE_MS,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // Generic plans of text searches were a hundred times slower than plans for the given words. Pages are on an SSD or in
    // memory, where random access costs as much as sequential access.
    options: `-c search_path=${schema} ${durability}-c plan_cache_mode=force_custom_plan -c timezone=UTC -c random_page_cost=1.1`,
  });
  // The error of the driver contains the whole connection with its password: only its message is passed on.
  pool.on('error', (error) => onError(new HistoryUnavailable(error)));
  // Ignores the loss of a connection between two statements of a transaction: the next statement rejects.
  pool.on('connect', (client) => void client.on('error', () => {}));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withTypedFailures(pool) }) });
}

/** The database does not answer, took too long, or refused a statement. */
export class HistoryUnavailable extends Error {
  override readonly name = 'HistoryUnavailable';
  /** SQLSTATE, if the server answered. */
  readonly code: string | undefined;

  /** True if the database lacks a table or a column: no process has migrated the tables. */
  get hasOlderTables(): boolean {
    return this.code === '42P01' || this.code === '42703';
  }

  /** True if the user of the database lacks a right. */
  get isForbidden(): boolean {
    return this.code === '42501';
  }

  constructor(cause: unknown) {
    const code = cause instanceof pg.DatabaseError ? cause.code : undefined;
    const what = code === undefined ? 'does not answer' : 'refused a statement';
    super(`The history database ${what}: ${cause instanceof Error ? cause.message : String(cause)}`);
    this.code = code;
  }
}

/** Distinguishes failures of the database from those of the log, which queries use as well. */
function withTypedFailures(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => {
      const client = await pool.connect().catch((error: unknown) => {
        throw new HistoryUnavailable(error);
      });
      let lost: HistoryUnavailable | undefined;
      const query = async (text: string, parameters: unknown[]) => {
        if (lost !== undefined) throw lost;
        try {
          return await client.query(text, parameters);
        } catch (error) {
          const failure = new HistoryUnavailable(error);
          // No answer of the server: the statement may still run, so the connection is discarded.
          if (failure.code === undefined) lost = failure;
          throw failure;
        }
      };
      return {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Kysely calls the form with a text and its parameters; cursors are not used
        query: query as typeof client.query,
        release: () => client.release(lost),
      };
    },
    end: () => pool.end(),
  };
}
