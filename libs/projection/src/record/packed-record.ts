import type { CallErrorCode, CallOutcome, CallStatus, Pool, Priority } from '#contracts';
import type { CallRecord } from '#history';

type Packed = readonly [
  id: string,
  tool: string,
  pool: Pool,
  priority: Priority,
  status: CallStatus,
  attempt: number,
  submittedAt: number,
  preview: string,
  labels: Readonly<Record<string, string>> | 0,
  ids: readonly (string | 0)[],
  startedAfter: number,
  endedAfter: number,
  runMs: number,
  outcome: CallOutcome | 0,
  code: CallErrorCode | 0,
  message: string,
  fingerprint: string,
  /** As many as there are, in this order; older records have none, or the first. */
  ...late: readonly [suspended?: 0 | 1, errorResult?: 0 | 1, note?: string],
];

/** A record as it is stored: a list without names, with what most calls have not left as 0 or at -1. */
export function encodeRecord(record: CallRecord): string {
  const { sessionId, agentId, batchId, parentCallId, rootCallId, replayOf, toolCallId, submittedAt, startedAt, endedAt, labels, error } =
    record;
  const ids = [sessionId, agentId, batchId, parentCallId, rootCallId, replayOf, toolCallId].map((id) => id ?? (0 as const));
  while (ids.length > 0 && ids.at(-1) === 0) ids.pop();
  const after = (time: number | undefined) => (time === undefined ? -1 : time - submittedAt);
  const packed: Packed = [
    record.id,
    record.tool,
    record.pool,
    record.priority,
    record.status,
    record.attempt,
    submittedAt,
    record.preview,
    Object.keys(labels).length === 0 ? 0 : labels,
    ids,
    after(startedAt),
    after(endedAt),
    record.runMs ?? -1,
    record.outcome ?? 0,
    error?.code ?? 0,
    error?.message ?? '',
    record.fingerprint ?? '',
    ...lateOf(record),
  ];
  return JSON.stringify(packed);
}

function lateOf({ suspended, errorResult, note = '' }: CallRecord): [suspended?: 0 | 1, errorResult?: 0 | 1, note?: string] {
  if (errorResult) return [suspended ? 1 : 0, 1, note];
  return suspended ? [1] : [];
}

/** The inverse of `encodeRecord`; the text must come from there. */
export function decodeRecord(text: string): CallRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this file wrote; records are read by the thousand and not checked again
  const packed = JSON.parse(text) as Packed;
  const [
    id,
    tool,
    pool,
    priority,
    status,
    attempt,
    submittedAt,
    preview,
    labels,
    ids,
    started,
    ended,
    runMs,
    outcome,
    code,
    message,
    print,
    suspended,
    errorResult,
    note,
  ] = packed;
  const [sessionId, agentId, batchId, parentCallId, rootCallId, replayOf, toolCallId] = ids.map((name) => (name === 0 ? undefined : name));
  return {
    id,
    tool,
    pool,
    priority,
    status,
    attempt,
    submittedAt,
    preview,
    labels: labels === 0 ? {} : labels,
    sessionId,
    agentId,
    batchId,
    parentCallId,
    rootCallId,
    replayOf,
    toolCallId,
    startedAt: started < 0 ? undefined : submittedAt + started,
    endedAt: ended < 0 ? undefined : submittedAt + ended,
    runMs: runMs < 0 ? undefined : runMs,
    outcome: outcome === 0 ? undefined : outcome,
    error: code === 0 ? undefined : { code, message },
    fingerprint: print === '' ? undefined : print,
    suspended: suspended === 1 ? true : undefined,
    errorResult: errorResult === 1 ? true : undefined,
    note: note === '' ? undefined : note,
  };
}
