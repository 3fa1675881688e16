import { type Kysely, sql } from 'kysely';

/** Creates an index of `calls` week by week, so that no statement takes longer than one week needs. */
export async function createIndex(db: Kysely<unknown>, name: string, columns: string): Promise<void> {
  await sql`create index ${sql.id(name)} on only calls ${sql.raw(columns)}`.execute(db);
  const { rows: weeks } = await sql<{
    week: string;
  }>`select relname as week from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'calls'::regclass`.execute(db);
  for (const { week } of weeks) {
    const part = sql.id(`${week}_${name}`);
    await sql`create index ${part} on ${sql.table(week)} ${sql.raw(columns)}`.execute(db);
    await sql`alter index ${sql.id(name)} attach partition ${part}`.execute(db);
  }
}
