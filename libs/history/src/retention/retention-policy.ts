import type { TenantRetention } from '#contracts';

const DAY_MS = 24 * 3_600_000;

/** Retention of calls after their end. */
export interface RetentionPolicy {
  /** Days for tenants without a setting of their own; undefined: for ever. */
  readonly days: number | undefined;
  /** Days in the archive for these tenants; undefined: for ever. */
  readonly archiveDays?: number | undefined;
  readonly tenants: Readonly<Record<string, TenantRetention>>;
}

/**
 * Time before which ended calls of the tenant lose their rows; undefined: never. A row does not outlive the archive of its
 * call, without which it could neither be opened nor rebuilt.
 */
export function cutoffOf(policy: RetentionPolicy, tenantId: string, now: number): Date | undefined {
  const { historyDays = policy.days, legalHold } = settingsOf(policy, tenantId);
  const days = Math.min(finite(historyDays), finite(archiveDaysOf(policy, tenantId)));
  return legalHold === true || days === Infinity ? undefined : new Date(now - days * DAY_MS);
}

/** Days after its end after which the archive may delete a call of the tenant; undefined: never, or not during a hold. */
export function archiveDaysOf(policy: RetentionPolicy, tenantId: string, call?: HeldBy): number | undefined {
  const retention = settingsOf(policy, tenantId);
  const { archiveDays = policy.archiveDays } = retention;
  return archiveDays === 'forever' || isHeld(retention, call) ? undefined : archiveDays;
}

/** Facts of a call by which a hold may cover it, besides its tenant. */
interface HeldBy {
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** True if a legal hold covers the call, or without a call, the whole tenant. */
function isHeld({ legalHold, heldSessions = [], heldAgents = [] }: TenantRetention, { sessionId, agentId }: HeldBy = {}): boolean {
  if (legalHold === true) return true;
  return (sessionId !== undefined && heldSessions.includes(sessionId)) || (agentId !== undefined && heldAgents.includes(agentId));
}

export function isHeldBy(policy: RetentionPolicy, tenantId: string, call?: HeldBy): boolean {
  return isHeld(settingsOf(policy, tenantId), call);
}

/** Longest finite retention of any tenant in the archive; undefined if nothing is ever deleted. */
export function longestArchiveDays({ archiveDays, tenants }: RetentionPolicy): number | undefined {
  const all = [archiveDays, ...Object.values(tenants).map((tenant) => tenant.archiveDays)].filter((days) => typeof days === 'number');
  return all.length === 0 ? undefined : Math.max(...all);
}

export function settingsOf({ tenants }: RetentionPolicy, tenantId: string): TenantRetention {
  return (Object.hasOwn(tenants, tenantId) ? tenants[tenantId] : undefined) ?? {};
}

function finite(days: number | 'forever' | undefined): number {
  return typeof days === 'number' ? days : Infinity;
}
