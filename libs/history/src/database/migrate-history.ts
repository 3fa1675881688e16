import { Migrator, sql, type Migration } from 'kysely';
import { HistoryUnavailable, SCHEMA, type HistoryDatabase } from './history-database.js';
import * as calls from './migrations/0001-calls.js';
import * as hours from './migrations/0002-hours.js';
import * as schedules from './migrations/0003-schedules.js';
import * as erasure from './migrations/0004-erasure.js';
import * as acts from './migrations/0005-acts.js';
import * as riskAndUser from './migrations/0006-risk-and-user.js';
import * as usage from './migrations/0007-usage.js';
import * as cpu from './migrations/0008-cpu.js';
import * as callsByRisk from './migrations/0009-calls-by-risk.js';

/**
 * Migrations in the order of their names. A migration only adds, with null or a default, so that processes of the previous
 * release can read and write until they are replaced.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-calls': { up: calls.up },
  '0002-hours': { up: hours.up },
  '0003-schedules': { up: schedules.up },
  '0004-erasure': { up: erasure.up },
  '0005-acts': { up: acts.up },
  '0006-risk-and-user': { up: riskAndUser.up },
  '0007-usage': { up: usage.up },
  '0008-cpu': { up: cpu.up },
  '0009-calls-by-risk': { up: callsByRisk.up },
};

/** A newer release has changed the tables. */
export class NewerHistory extends Error {
  override readonly name = 'NewerHistory';

  constructor(unknown: readonly string[]) {
    super(
      `The tables of the history database were changed by a newer release: this one does not know ${unknown.join(', ')}. ` +
        `Start the newer release. To stay with this one, delete the tables (drop schema ${SCHEMA} cascade): they are made again from the log.`,
    );
  }
}

/**
 * Creates or updates the tables; needs no rights if they are up to date. Safe in several concurrent processes: one migrates,
 * under an advisory lock.
 * @throws NewerHistory for tables that this release may not understand.
 */
export async function migrateHistory(db: HistoryDatabase): Promise<void> {
  const applied = await appliedMigrations(db);
  const unknown = applied.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) throw new NewerHistory(unknown);
  if (applied.length === Object.keys(MIGRATIONS).length) return;
  await sql`create schema if not exists ${sql.id(SCHEMA)}`.execute(db).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error;
  });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
    migrationTableSchema: SCHEMA,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error instanceof Error ? error : new Error('The migration of the history failed', { cause: error });
}

/** True for the error of one of two processes that create a schema at the same time. */
function isDuplicate(error: unknown): boolean {
  return error instanceof HistoryUnavailable && (error.code === '23505' || error.code === '42P06');
}

async function appliedMigrations(db: HistoryDatabase): Promise<readonly string[]> {
  const { rows: tables } = await sql`select where to_regclass('kysely_migration') is not null`.execute(db);
  if (tables.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}
