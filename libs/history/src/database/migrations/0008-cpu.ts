import { type Kysely, sql } from 'kysely';

/** CPU time of the programs that the last attempt ran; null if unknown. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column cpu_ms bigint`.execute(db);
}
