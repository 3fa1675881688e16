import { type Kysely, sql } from 'kysely';

/** Calls, sessions, and the read position of each partition of the log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createCalls(db);
  await createCallIndexes(db);
  await createSummaries(db);
}

async function createCalls(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table calls (
      id text collate "C" not null,
      week date not null,
      partition text not null,
      tenant_id text not null,
      tool text not null,
      pool text not null,
      priority text not null,
      status text not null,
      outcome text,
      error_result boolean not null default false,
      note text,
      error_code text,
      error_message text,
      fingerprint text,
      attempt integer not null default 0,
      suspended boolean not null default false,
      session_id text,
      agent_id text,
      batch_id text,
      parent_call_id text,
      root_call_id text,
      replay_of text,
      tool_call_id text,
      labels jsonb not null default '{}',
      preview text not null default '',
      submitted_at timestamptz not null,
      started_at timestamptz,
      ended_at timestamptz,
      wait_ms bigint,
      run_ms bigint,
      words tsvector not null default '',
      primary key (week, id)
    ) partition by range (week)`.execute(db);
}

async function createCallIndexes(db: Kysely<unknown>): Promise<void> {
  for (const columns of [
    '(tenant_id, submitted_at desc, id desc)',
    '(tenant_id, started_at)',
    '(tenant_id, ended_at)',
    '(tenant_id, session_id, submitted_at desc, id desc) where session_id is not null',
    '(tenant_id, tool, submitted_at desc, id desc)',
    `(tenant_id, status) where status <> 'ended'`,
    '(tenant_id, fingerprint, submitted_at desc) where fingerprint is not null',
    '(batch_id) where batch_id is not null',
    '(root_call_id) where root_call_id is not null',
    '(parent_call_id) where parent_call_id is not null',
    '(tool_call_id) where tool_call_id is not null',
  ]) {
    await sql`create index on calls ${sql.raw(columns)}`.execute(db);
  }
  await sql`create index on calls using gin (words)`.execute(db);
}

async function createSummaries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sessions (
      tenant_id text not null,
      session_id text collate "C" not null,
      partition text not null,
      agent_id text,
      calls integer not null,
      open integer not null,
      failed integer not null,
      first_at timestamptz not null,
      last_at timestamptz not null,
      primary key (tenant_id, session_id)
    )`.execute(db);
  await sql`create index on sessions (tenant_id, last_at desc, session_id desc)`.execute(db);
  await sql`
    create table totals (
      tenant_id text not null,
      partition text not null,
      calls bigint not null,
      primary key (tenant_id, partition)
    )`.execute(db);
  await sql`
    create table positions (
      partition text primary key,
      epoch integer not null,
      seq bigint not null,
      mark text not null,
      updated_at timestamptz not null default now()
    )`.execute(db);
}
