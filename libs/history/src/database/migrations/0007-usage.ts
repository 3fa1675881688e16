import { type Kysely, sql } from 'kysely';

/** Facts of usage besides times: approval requests and output bytes. Unknown in older rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column asked boolean not null default false, add column output_bytes bigint`.execute(db);
}
