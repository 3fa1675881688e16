import { type Kysely, sql } from 'kysely';

/** Administrative acts, copied from the log. All acts of a tenant are in one partition, so their order is that of the log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table acts (
      partition text not null,
      seq bigint not null,
      tenant_id text not null,
      type text not null,
      actor text not null,
      target text not null,
      at timestamptz not null,
      event text not null,
      primary key (partition, seq)
    )`.execute(db);
  await sql`create index on acts (tenant_id, seq)`.execute(db);
}
