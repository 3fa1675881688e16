import { type Kysely, sql } from 'kysely';

/** What usage is made of besides times. Rows of calls that were written before say nothing about it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column asked boolean not null default false, add column output_bytes bigint`.execute(db);
}
