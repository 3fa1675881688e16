import { isDeepStrictEqual } from 'node:util';
import type { TenantRetention } from '#contracts';
import type { RetentionPolicy } from '#history';

/** Time for which a file must contain a shorter retention before it applies: the period of retention. */
const PERIOD_MS = 3_600_000;

/**
 * Reads a policy whose file may be cut by accident and still parse. Stricter settings apply at once. A legal hold, longer days
 * or encryption from an earlier read of this process ends only after two equal reads, a period apart.
 */
export function cautiously(read: () => RetentionPolicy, now: () => number = Date.now): () => RetentionPolicy {
  let inForce: RetentionPolicy | undefined;
  let pending: { readonly policy: RetentionPolicy; readonly since: number } | undefined;
  return () => {
    const time = now();
    const policy = readOr(read, () => (pending = undefined));
    if (!isDeepStrictEqual(pending?.policy, policy)) pending = { policy, since: time };
    const isConfirmed = pending !== undefined && time - pending.since >= PERIOD_MS;
    inForce = inForce === undefined || isConfirmed ? policy : stricter(inForce, policy);
    return inForce;
  };
}

function readOr<T>(read: () => T, onError: () => void): T {
  try {
    return read();
  } catch (error) {
    onError();
    throw error;
  }
}

/** Combines the stricter settings of each tenant. */
function stricter(before: RetentionPolicy, policy: RetentionPolicy): RetentionPolicy {
  const names = new Set([...Object.keys(before.tenants), ...Object.keys(policy.tenants)]);
  const settings = ({ tenants }: RetentionPolicy, name: string): TenantRetention =>
    (Object.hasOwn(tenants, name) ? tenants[name] : undefined) ?? {};
  const tenants = [...names].map((name): readonly [string, TenantRetention] => {
    const [old, next] = [settings(before, name), settings(policy, name)];
    const historyDays = longer(old.historyDays, next.historyDays, policy.days);
    const archiveDays = longer(old.archiveDays, next.archiveDays, policy.archiveDays);
    const strictest: TenantRetention = {
      ...next,
      ...(historyDays === undefined ? {} : { historyDays }),
      ...(archiveDays === undefined ? {} : { archiveDays }),
      ...(old.legalHold === true ? { legalHold: true } : {}),
      ...(old.heldSessions === undefined ? {} : { heldSessions: both(old.heldSessions, next.heldSessions) }),
      ...(old.heldAgents === undefined ? {} : { heldAgents: both(old.heldAgents, next.heldAgents) }),
      ...(old.erasable === true ? { erasable: true } : {}),
    };
    return [name, strictest];
  });
  return { ...policy, tenants: Object.fromEntries(tenants) };
}

function both(old: readonly string[], next: readonly string[] = []): string[] {
  return [...new Set([...old, ...next])];
}

type Days = number | 'forever' | undefined;

/** Longer of two settings. `byDefault`: days of a tenant without a setting; undefined: for ever. */
function longer(old: Days, next: Days, byDefault: number | undefined): Days {
  if (old === next) return next;
  const days = (own: Days) => own ?? byDefault ?? 'forever';
  const [a, b] = [days(old), days(next)];
  return a === 'forever' || b === 'forever' ? 'forever' : Math.max(a, b);
}
