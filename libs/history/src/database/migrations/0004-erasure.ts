import { type Kysely, sql } from 'kysely';

/** Keys of encrypted content in the archive, and erasures. Neither can be rebuilt from the log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table content_keys (
      call_id text collate "C" primary key,
      tenant_id text not null,
      key bytea,
      created_at timestamptz not null default now()
    )`.execute(db);
  await revokeDefaults(db, 'content_keys');
  await sql`
    create table erasures (
      call_id text collate "C" primary key,
      tenant_id text not null,
      partition text not null,
      last_seq bigint not null,
      requested_by text not null,
      reason text,
      requested_at timestamptz not null default now(),
      done_at timestamptz,
      fault text
    )`.execute(db);
  await sql`create index on erasures (requested_at) where done_at is null`.execute(db);
}

/** Revokes default privileges, by which other roles may read each new table: keys are for gateways and projectors alone. */
async function revokeDefaults(db: Kysely<unknown>, table: string): Promise<void> {
  const { rows } = await sql<{ grantee: string }>`
    select distinct case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end as grantee
    from pg_class, aclexplode(relacl) as acl where oid = ${table}::regclass and acl.grantee <> relowner`.execute(db);
  for (const { grantee } of rows) await sql`revoke all on ${sql.table(table)} from ${sql.raw(grantee)}`.execute(db);
}
