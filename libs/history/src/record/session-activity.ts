import { isFailure, type CallRecord } from './call-record.js';

/** Sums of a session's calls. Times are ms since the epoch. */
export interface SessionActivity {
  readonly calls: number;
  /** Calls that have not ended. */
  readonly open: number;
  readonly failed: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly agentId: string | undefined;
}

/** Activity after a new call (`before` undefined) or a change. */
export function sessionAfter(session: SessionActivity | undefined, before: CallRecord | undefined, after: CallRecord): SessionActivity {
  const { calls, open, failed, firstAt, lastAt, agentId } = session ?? {
    calls: 0,
    open: 0,
    failed: 0,
    firstAt: after.submittedAt,
    lastAt: after.submittedAt,
    agentId: undefined,
  };
  const openOf = (record: CallRecord | undefined) => Number(record !== undefined && record.status !== 'ended');
  return {
    calls: calls + Number(before === undefined),
    open: open - openOf(before) + openOf(after),
    failed: failed - Number(before !== undefined && isFailure(before)) + Number(isFailure(after)),
    firstAt: Math.min(firstAt, after.submittedAt),
    lastAt: Math.max(lastAt, after.endedAt ?? after.startedAt ?? after.submittedAt),
    agentId: before === undefined ? (after.agentId ?? agentId) : agentId,
  };
}
