import { sql } from 'kysely';
import { MemoryFailure } from '../memory-failure.js';
import type { ScopedTables } from './scoped-tables.js';

/** Most storage of a user, or of all users of a tenant. */
export interface MemoryQuota {
  readonly bytes: number;
  /** Number of chunks, the rows that are searched. */
  readonly rows: number;
}

export interface MemoryQuotas {
  readonly user: MemoryQuota;
  readonly tenant: MemoryQuota;
}

export interface Growth {
  readonly items: number;
  readonly chunks: number;
  readonly bytes: number;
}

interface UsageRow {
  readonly chunks: number;
  readonly bytes: number;
}

/**
 * Counts a change, first for the user and then for the tenant, so that transactions lock in one order. Must be the last
 * statement of a transaction.
 * @throws MemoryFailure `quota_exceeded`, which undoes the transaction
 */
export async function countUsage({ db, scope }: ScopedTables, growth: Growth, { user, tenant }: MemoryQuotas): Promise<void> {
  const { tenantId, userId } = scope;
  const count = async (ofUser: string): Promise<UsageRow> => {
    const { rows } = await sql<UsageRow>`
      insert into usage as u (tenant_id, user_id, items, chunks, bytes)
      values (${tenantId}, ${ofUser}, ${growth.items}, ${growth.chunks}, ${growth.bytes})
      on conflict (tenant_id, user_id) do update
        set items = u.items + excluded.items, chunks = u.chunks + excluded.chunks, bytes = u.bytes + excluded.bytes
      returning u.chunks, u.bytes`.execute(db);
    return rows[0] ?? { chunks: 0, bytes: 0 };
  };
  const grows = growth.bytes > 0 || growth.chunks > 0;
  for (const [whose, id, quota] of [['the user', userId, user] as const, ['the tenant', '', tenant] as const]) {
    const used = await count(id);
    if (grows && (used.bytes > quota.bytes || used.chunks > quota.rows)) throw full(whose, used, quota);
  }
}

function full(whose: string, used: UsageRow, quota: MemoryQuota): MemoryFailure {
  const number = (value: number) => value.toLocaleString('en-US');
  const what = used.bytes > quota.bytes ? `${number(quota.bytes)} bytes with this` : `${number(quota.rows)} stored parts with this`;
  return new MemoryFailure('quota_exceeded', `The memory of ${whose} is full: more than ${what}. Delete what is not needed any more.`);
}

/** Number of searched chunks: of this user, and of the tenant. */
export async function chunkCounts({ db, scope }: ScopedTables): Promise<{ readonly user: number; readonly tenant: number }> {
  const rows = await db
    .selectFrom('usage')
    .select(['user_id', 'chunks'])
    .where('tenant_id', '=', scope.tenantId)
    .where('user_id', 'in', ['', scope.userId])
    .execute();
  const of = (id: string) => rows.find(({ user_id }) => user_id === id)?.chunks ?? 0;
  return { user: of(scope.userId), tenant: of('') };
}
