import { type Kysely, sql } from 'kysely';

const SCOPED = ['items', 'chunks', 'contexts', 'operations'];

export async function up(db: Kysely<unknown>): Promise<void> {
  await createItems(db);
  await createKnowledge(db);
  await protect(db);
  await createForgetUser(db);
}

async function createItems(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table items (
      id text collate "C" primary key,
      tenant_id text not null,
      user_id text not null,
      kind text not null,
      session_id text not null default '',
      name text not null default '',
      category text not null default '',
      operation text not null default '',
      content text not null default '',
      chunks integer not null,
      bytes bigint not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create unique index on items (tenant_id, user_id, session_id, name) where kind = 'fact'`.execute(db);
  await sql`create index on items (tenant_id, user_id, kind, created_at)`.execute(db);
  await sql`
    create table chunks (
      item_id text collate "C" not null references items (id) on delete cascade,
      ordinal integer not null,
      tenant_id text not null,
      user_id text not null,
      kind text not null,
      session_id text not null default '',
      operation text not null default '',
      text text not null,
      words tsvector not null,
      model text,
      embedding real[],
      primary key (item_id, ordinal)
    )`.execute(db);
  await sql`create index on chunks (tenant_id, user_id, kind, item_id, ordinal)`.execute(db);
  await sql`create index on chunks using gin (words)`.execute(db);
  await sql`
    create table usage (
      tenant_id text not null,
      user_id text not null,
      items bigint not null default 0,
      chunks bigint not null default 0,
      bytes bigint not null default 0,
      primary key (tenant_id, user_id)
    )`.execute(db);
}

async function createKnowledge(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table contexts (
      id text collate "C" primary key,
      tenant_id text not null,
      user_id text not null,
      name text not null,
      path text not null default '',
      operation text not null,
      documents integer not null,
      chunks integer not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (tenant_id, user_id, name)
    )`.execute(db);
  await sql`
    create table operations (
      id text collate "C" primary key,
      tenant_id text not null,
      user_id text not null,
      name text not null,
      status text not null,
      documents integer not null default 0,
      total integer not null default 0,
      fault text,
      started_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index on operations (tenant_id, user_id, started_at)`.execute(db);
}

/**
 * Second line of defence: even a query without its scope sees only rows of the transaction's tenant and user. Also binds the
 * owner of the tables; a superuser is not bound.
 */
async function protect(db: Kysely<unknown>): Promise<void> {
  const tenant = sql`tenant_id = current_setting('toolyard.tenant', true)`;
  const user = sql`user_id = current_setting('toolyard.user', true)`;
  for (const name of [...SCOPED, 'usage']) {
    const table = sql.table(name);
    const own = name === 'usage' ? sql`${tenant} and (user_id = '' or ${user})` : sql`${tenant} and ${user}`;
    await sql`alter table ${table} enable row level security`.execute(db);
    await sql`alter table ${table} force row level security`.execute(db);
    await sql`create policy own_rows on ${table} using (${own})`.execute(db);
  }
}

/** Creates a function for operators that deletes all memories of a user. */
async function createForgetUser(db: Kysely<unknown>): Promise<void> {
  const deletes = SCOPED.map((name) => sql`delete from ${sql.table(name)} where tenant_id = tenant and user_id = forgotten;`);
  await sql`
    create function forget_user(tenant text, forgotten text) returns void language plpgsql
    set search_path from current as $$
    declare own usage%rowtype;
    begin
      perform set_config('toolyard.tenant', tenant, true), set_config('toolyard.user', forgotten, true);
      ${sql.join(deletes, sql` `)}
      delete from usage where tenant_id = tenant and user_id = forgotten returning * into own;
      update usage set items = usage.items - coalesce(own.items, 0), chunks = usage.chunks - coalesce(own.chunks, 0),
        bytes = usage.bytes - coalesce(own.bytes, 0) where tenant_id = tenant and user_id = '';
    end $$`.execute(db);
}
