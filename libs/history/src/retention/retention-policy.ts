import type { TenantRetention } from '#contracts';

const DAY_MS = 24 * 3_600_000;

/** How long calls are kept after their end. */
export interface RetentionPolicy {
  /** For tenants that have no days of their own; undefined: for ever. */
  readonly days: number | undefined;
  readonly tenants: Readonly<Record<string, TenantRetention>>;
}

/** Calls of the tenant that ended before this time are deleted; undefined: none. */
export function cutoffOf({ days, tenants }: RetentionPolicy, tenantId: string, now: number): Date | undefined {
  const { historyDays = days, legalHold } = (Object.hasOwn(tenants, tenantId) ? tenants[tenantId] : undefined) ?? {};
  return legalHold === true || historyDays === undefined || historyDays === 'forever' ? undefined : new Date(now - historyDays * DAY_MS);
}
