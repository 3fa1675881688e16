import type { DropRule } from '#archive';

const DAY_MS = 24 * 3_600_000;

/** Owner of a call: a legal hold may cover all calls of a session or an agent. */
export interface CallOwner {
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
}

/**
 * Days for which a call of the tenant is kept after its end; undefined: for ever, or on hold. Without an owner: the setting of
 * the tenant. An empty tenant stands for events without one.
 */
export type ArchiveDays = (tenantId: string, owner?: CallOwner) => number | undefined;

/** Facts that decide whether a segment may be dropped. */
export interface SegmentFacts {
  /** Latest end of the calls with events in the segment, by tenant. */
  readonly lastEnds: ReadonlyMap<string, number>;
  /** True if a call with events in the segment is open. */
  readonly hasOpen: boolean;
  /** True if a call in it is kept for ever, or was on hold when it was read. */
  readonly isHeld: boolean;
}

/** Rules by which a segment may be dropped; undefined if it may not. */
export function dropRules(
  { lastEnds, hasOpen, isHeld }: SegmentFacts,
  daysOf: ArchiveDays,
  nowMs: number,
): readonly DropRule[] | undefined {
  if (hasOpen || isHeld || lastEnds.size === 0) return undefined;
  const rules: DropRule[] = [];
  for (const [tenantId, lastEnd] of lastEnds) {
    const days = daysOf(tenantId);
    if (!isPast(lastEnd, days, nowMs)) return undefined;
    rules.push({ tenantId, days });
  }
  return rules;
}

/** True if the days after this end are over. */
export function isPast(endedMs: number, days: number | undefined, nowMs: number): days is number {
  return days !== undefined && endedMs + days * DAY_MS <= nowMs;
}
