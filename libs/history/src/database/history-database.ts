import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { HistoryTables } from './tables.js';

export type HistoryDatabase = Kysely<HistoryTables>;

/** The tables of the history are in a schema of their own, so that they may share a database with others. */
export const SCHEMA = 'toolyard';

const CONNECT_TIMEOUT_MS = 5_000;
/** How much later than the server this process gives a statement up: a server that is stopped or cut off ends none. */
const GRACE_MS = 2_000;

// Counts and sums are below 2^53: as numbers, not as texts.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

export interface HistoryDatabaseOptions {
  /** `postgres://user@host:port/database`; what follows `?` is as libpq has it, such as `host=/folder/of/the/socket`. */
  readonly url: string;
  /** Named in `pg_stat_activity`. */
  readonly name: string;
  /** Connections at most. */
  readonly connections: number;
  /** After which time the server ends a statement, and a transaction that asks nothing, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** Called when a connection is lost while it is idle; the pool opens others. */
  readonly onError: (error: HistoryUnavailable) => void;
}

/**
 * Opens a pool of connections; none is made before the first query. Rows may be lost when the server crashes, since the
 * projector writes its position in the same transaction and reads the log again from there. So nothing waits for the disk.
 */
export function openHistoryDatabase(options: HistoryDatabaseOptions): HistoryDatabase {
  return openDatabase<HistoryTables>({ ...options, schema: SCHEMA, durable: false });
}

/** The same for the tables of another schema. `durable`: what is committed is on the disk of the server. */
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
    // Generic plans of text searches were a hundred times slower than plans for the words at hand. Pages are on an SSD or in
    // memory, where those of an index cost what others do.
    options: `-c search_path=${schema} ${durability}-c plan_cache_mode=force_custom_plan -c timezone=UTC -c random_page_cost=1.1`,
  });
  // The error of the driver has the whole connection with its password: only its message goes on.
  pool.on('error', (error) => onError(new HistoryUnavailable(error)));
  // A connection that is lost between two statements of a transaction: the next statement rejects.
  pool.on('connect', (client) => void client.on('error', () => {}));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withTypedFailures(pool) }) });
}

/** The database does not answer, took too long, or refused a statement. */
export class HistoryUnavailable extends Error {
  override readonly name = 'HistoryUnavailable';
  /** The SQLSTATE, where the server answered. */
  readonly code: string | undefined;

  /** The database answers, but lacks a table or a column: no process has brought the tables up to date. */
  get hasOlderTables(): boolean {
    return this.code === '42P01' || this.code === '42703';
  }

  /** The user of the database lacks a right. */
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

/** Tells failures of the database from those of the log, which a question needs as well. */
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
          // No answer of the server: the statement may still run, and the connection is of no use to others.
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
