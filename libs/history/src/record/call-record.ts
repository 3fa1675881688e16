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

/** What the projection keeps of a call: enough for a row of a list, and for every filter. Times are ms since the epoch. */
export interface CallRecord {
  readonly id: string;
  readonly tool: string;
  readonly pool: Pool;
  readonly priority: Priority;
  readonly status: CallStatus;
  readonly attempt: number;
  /** It waits for a time or for other calls: no failure brought it back to the queue. */
  readonly suspended?: true | undefined;
  readonly submittedAt: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The beginning of the arguments as JSON text. */
  readonly preview: string;
  readonly outcome?: CallOutcome | undefined;
  /** It completed with a result that is an error. */
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
  /** A person was asked about it. */
  readonly asked?: true | undefined;
  /** Of its whole output. */
  readonly outputBytes?: number | undefined;
  /** Of the programs that the last attempt ran, where it is known. */
  readonly cpuMs?: number | undefined;
}

/** The row of a list. */
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

/** From the submission to the first Start. */
export function waitMsOf({ startedAt, submittedAt }: CallRecord): number | undefined {
  return startedAt === undefined ? undefined : Math.max(0, startedAt - submittedAt);
}

/** Whether a call ended as a failure: neither a decision of a person nor what was wanted. */
export function isFailure({ outcome, errorResult }: Pick<CallRecord, 'outcome' | 'errorResult'>): boolean {
  return errorResult === true || isFailedOutcome(outcome);
}

export function isFailedOutcome(outcome: CallOutcome | undefined): boolean {
  return outcome === 'failed' || outcome === 'timed_out' || outcome === 'unknown';
}
