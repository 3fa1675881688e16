import { type Kysely, sql } from 'kysely';

/** CPU time of the programs that the last attempt ran. Null where it is not known. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column cpu_ms bigint`.execute(db);
}
