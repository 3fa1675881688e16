import {
  successOf,
  type CallErrorCode,
  type CallOutcome,
  type CallStatus,
  type CallSummary,
  type Pool,
  type Priority,
  type Risk,
} from '#contracts';

/** Projection of a call: enough for a row of a list, and for every filter. Times are ms since the epoch. */
export interface CallRecord {
  readonly id: string;
  readonly tool: string;
  readonly pool: Pool;
  readonly priority: Priority;
  readonly status: CallStatus;
  readonly attempt: number;
  /** Set while the call waits for a time or for other calls, not after a failure. */
  readonly suspended?: true | undefined;
  readonly submittedAt: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Beginning of the arguments as JSON text. */
  readonly preview: string;
  readonly outcome?: CallOutcome | undefined;
  /** Set if the call completed with an error result. */
  readonly errorResult?: true | undefined;
  readonly note?: string | undefined;
  readonly error?: { readonly code: CallErrorCode; readonly message: string } | undefined;
  readonly fingerprint?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  readonly risk?: Risk | undefined;
  readonly batchId?: string | undefined;
  readonly parentCallId?: string | undefined;
  readonly rootCallId?: string | undefined;
  readonly replayOf?: string | undefined;
  readonly scheduleId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly runMs?: number | undefined;
  /** Set if an approval was requested. */
  readonly asked?: true | undefined;
  /** Bytes of its whole output. */
  readonly outputBytes?: number | undefined;
  /** CPU time of the programs that the last attempt ran, if known. */
  readonly cpuMs?: number | undefined;
}

/** Row of a list. */
export function summaryOf(record: CallRecord): CallSummary {
  const { submittedAt, startedAt, endedAt, status, attempt, errorResult, note, asked: _asked, outputBytes: _bytes, ...rest } = record;
  const { outcome } = rest;
  const iso = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  return {
    ...rest,
    labels: { ...rest.labels },
    ...(outcome === undefined ? {} : successOf({ outcome, isError: outcome !== 'completed' || errorResult === true, note })),
    status,
    attempt,
    retrying: status === 'queued' && attempt > 0 && record.suspended !== true,
    submittedAt: new Date(submittedAt).toISOString(),
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
    waitMs: waitMsOf(record),
  };
}

/** Time from the submission to the first Start. */
export function waitMsOf({ startedAt, submittedAt }: CallRecord): number | undefined {
  return startedAt === undefined ? undefined : Math.max(0, startedAt - submittedAt);
}

/** True if a call failed; denials and cancels by people do not count. */
export function isFailure({ outcome, errorResult }: Pick<CallRecord, 'outcome' | 'errorResult'>): boolean {
  return errorResult === true || isFailedOutcome(outcome);
}

export function isFailedOutcome(outcome: CallOutcome | undefined): boolean {
  return outcome === 'failed' || outcome === 'timed_out' || outcome === 'unknown';
}
