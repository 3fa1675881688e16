import type { DropRule } from '#archive';

const DAY_MS = 24 * 3_600_000;

/** Whose call it is: a legal hold may cover all calls of a session or an agent. */
export interface CallOwner {
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
}

/**
 * Days after its end that a call of the tenant is kept; undefined: for ever, or held. Without an owner: as the tenant has it. The
 * tenant without a name: events of none.
 */
export type ArchiveDays = (tenantId: string, owner?: CallOwner) => number | undefined;

/** What decides whether a segment may be dropped. */
export interface SegmentFacts {
  /** By tenant with events in it: when the last call of these has ended, at the latest. */
  readonly lastEnds: ReadonlyMap<string, number>;
  /** A call has events in it and has not ended. */
  readonly hasOpen: boolean;
  /** A call in it is kept for ever, or was held when it was read. */
  readonly isHeld: boolean;
}

/** The rules by which a segment may be dropped; undefined: it is kept. */
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

/** Whether what ended then is to be deleted. */
export function isPast(endedMs: number, days: number | undefined, nowMs: number): days is number {
  return days !== undefined && endedMs + days * DAY_MS <= nowMs;
}
