import type { TenantRetention } from '#contracts';

const DAY_MS = 24 * 3_600_000;

/** How long calls are kept after their end. */
export interface RetentionPolicy {
  /** For tenants that have no days of their own; undefined: for ever. */
  readonly days: number | undefined;
  /** How long the archive keeps calls of such tenants; undefined: for ever. */
  readonly archiveDays?: number | undefined;
  readonly tenants: Readonly<Record<string, TenantRetention>>;
}

/**
 * Rows of the tenant's calls that ended before this time are deleted; undefined: none. A row does not outlive what the archive has
 * of its call: it could not be opened, nor made again.
 */
export function cutoffOf(policy: RetentionPolicy, tenantId: string, now: number): Date | undefined {
  const { historyDays = policy.days, legalHold } = settingsOf(policy, tenantId);
  const days = Math.min(finite(historyDays), finite(archiveDaysOf(policy, tenantId)));
  return legalHold === true || days === Infinity ? undefined : new Date(now - days * DAY_MS);
}

/** Days after its end after which the archive may delete a call of the tenant; undefined: for ever, or while it is held. */
export function archiveDaysOf(policy: RetentionPolicy, tenantId: string, call?: HeldBy): number | undefined {
  const retention = settingsOf(policy, tenantId);
  const { archiveDays = policy.archiveDays } = retention;
  return archiveDays === 'forever' || isHeld(retention, call) ? undefined : archiveDays;
}

/** By what a call is held, apart from its tenant. */
interface HeldBy {
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
}

/** Whether a legal hold covers the call; without a call, whether one covers the whole tenant. */
function isHeld({ legalHold, heldSessions = [], heldAgents = [] }: TenantRetention, { sessionId, agentId }: HeldBy = {}): boolean {
  if (legalHold === true) return true;
  return (sessionId !== undefined && heldSessions.includes(sessionId)) || (agentId !== undefined && heldAgents.includes(agentId));
}

/** `isHeld` by the name of the tenant. */
export function isHeldBy(policy: RetentionPolicy, tenantId: string, call?: HeldBy): boolean {
  return isHeld(settingsOf(policy, tenantId), call);
}

/** The longest that any tenant's calls are kept in the archive, but for ever; undefined where nothing is ever deleted. */
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
