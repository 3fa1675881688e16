import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { SCHEMA } from '../database/migrate-memory.js';
import type { MemoryDatabase, MemoryTables } from '../database/tables.js';

/** Value in the form of the driver `pg`, with bytes as Buffer. */
function asDriver(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

/** Empty PostgreSQL in this process, with pgvector. One connection, so no concurrent transactions. */
export async function pgliteWithVectors(): Promise<MemoryDatabase> {
  const server = await PGlite.create({ extensions: { vector } });
  await server.exec(`create extension vector; set search_path = ${SCHEMA}, public`);
  const query = async (text: string, parameters: unknown[]) => {
    const { rows: found, affectedRows = 0 } = await server.query<Record<string, unknown>>(text, parameters);
    const rows = found.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asDriver(value)])));
    return { rows, rowCount: affectedRows, command: text.trimStart().split(/\s/, 1)[0]?.toUpperCase() };
  };
  const client = { query, release: () => {} };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that Kysely uses of a pool
  const pool = { connect: () => Promise.resolve(client), end: () => server.close() } as unknown as PostgresPool;
  return new Kysely<MemoryTables>({ dialect: new PostgresDialect({ pool }) });
}
