import { type Kysely, sql } from 'kysely';
import { createIndex } from './create-index.js';

/** Sums of the calls of an hour, and indexes for selective filters. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createLatencyBuckets(db);
  await createHours(db);
  await createIndex(db, 'calls_by_agent', '(tenant_id, agent_id, submitted_at desc, id desc) where agent_id is not null');
  await createIndex(db, 'calls_by_outcome', `(tenant_id, outcome, submitted_at desc, id desc) where outcome <> 'completed'`);
  await createIndex(db, 'calls_by_priority', `(tenant_id, priority, submitted_at desc, id desc) where priority <> 'normal'`);
  await createIndex(db, 'calls_by_error', '(tenant_id, error_code, submitted_at desc, id desc) where error_code is not null');
  await createIndex(db, 'calls_by_failure', '(tenant_id, ended_at, fingerprint) where fingerprint is not null');
}

/**
 * Log-linear buckets: each millisecond below 64 has its own, then each power of two is divided into 32. A time is at most 1.6 %
 * from the middle of its bucket. PostgreSQL inlines both functions, since neither is declared strict.
 */
async function createLatencyBuckets(db: Kysely<unknown>): Promise<void> {
  const shift = sql`(floor(ln(ms::float8) / ln(2::float8))::integer - 5)`;
  await sql`
    create function latency_bucket(ms bigint) returns integer immutable parallel safe language sql as $$
      select case when ms < 64 then ms::integer else 32 * ${shift} + (ms >> ${shift})::integer end $$`.execute(db);
  await sql`
    create function latency_of_bucket(bucket integer) returns float8 immutable parallel safe language sql as $$
      select case when bucket < 64 then bucket::float8 else (bucket % 32 + 32.5::float8) * 2::float8 ^ (bucket / 32 - 1) - 0.5::float8 end $$`.execute(
    db,
  );
}

async function createHours(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table hours (
      tenant_id text not null,
      hour timestamptz not null,
      tool text not null,
      outcome text not null,
      submitted bigint not null,
      ended bigint not null,
      errors bigint not null,
      wait_buckets integer[] not null,
      wait_counts integer[] not null,
      run_buckets integer[] not null,
      run_counts integer[] not null,
      primary key (tenant_id, hour, tool, outcome)
    )`.execute(db);
  await sql`create index on hours (hour)`.execute(db);
  await sql`create table summed_hours (hour timestamptz primary key, complete boolean not null default false)`.execute(db);
}
