import { Migrator, sql, type Migration } from 'kysely';
import { HistoryUnavailable } from '#history';
import * as memory from './migrations/0001-memory.js';
import type { MemoryDatabase } from './tables.js';

/** Schema separate from the history, which can be rebuilt from the log: these rows cannot. */
export const SCHEMA = 'toolyard_memory';

/**
 * Migrations in the order of their names. A migration only adds, with null or a default allowed: workers of the previous
 * release continue to read and write.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001-memory': { up: memory.up } };

/** Creates or updates the tables. Safe for concurrent workers, under an advisory lock. Does not change tables of a newer release. */
export async function migrateMemory(db: MemoryDatabase): Promise<void> {
  const done = await appliedMigrations(db);
  if (Object.keys(MIGRATIONS).every((name) => done.has(name))) return;
  await sql`create schema if not exists ${sql.id(SCHEMA)}`.execute(db).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error;
  });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
    migrationTableSchema: SCHEMA,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error instanceof Error ? error : new Error('The migration of the memory failed', { cause: error });
}

async function appliedMigrations(db: MemoryDatabase): Promise<ReadonlySet<string>> {
  const table = sql.table(`${SCHEMA}.kysely_migration`);
  const { rows: found } = await sql`select where to_regclass(${`${SCHEMA}.kysely_migration`}) is not null`.execute(db);
  if (found.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`select name from ${table}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** True for the error of one of two workers that create a schema at the same time. */
function isDuplicate(error: unknown): boolean {
  return error instanceof HistoryUnavailable && (error.code === '23505' || error.code === '42P06');
}
