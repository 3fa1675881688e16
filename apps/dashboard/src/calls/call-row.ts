import type { Call, CallEvent, CallOutcome, CallStatus, CallSummary, EditedArguments, Pool, Priority, Risk } from '#contracts';
import type { ShownState } from '../components/theme.js';
import { timeOfId } from '../stream/time-of-id.js';

/** Call in a list: from a response of the gateway, or from events with the fields that these have. */
export interface CallRow {
  readonly id: string;
  readonly tool: string;
  readonly pool?: Pool | undefined;
  readonly priority?: Priority | undefined;
  readonly risk?: Risk | undefined;
  /** The beginning of the arguments as JSON text, where it is known. */
  readonly preview?: string | undefined;
  readonly status: CallStatus;
  readonly outcome?: CallOutcome | undefined;
  readonly isError?: boolean | undefined;
  /** Why a completed call has an error result, such as `exit 1`. */
  readonly note?: string | undefined;
  readonly retrying: boolean;
  /** Waits for a time or for other calls without a worker; not a failure. */
  readonly suspended: boolean;
  readonly cancelling: boolean;
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly batchId?: string | undefined;
  readonly parentCallId?: string | undefined;
  readonly scheduleId?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly attempt: number;
  /** Milliseconds since 1970, as all times here. */
  readonly submittedAt: number;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly waitMs?: number | undefined;
  readonly runMs?: number | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

type StateFacts = Pick<CallRow, 'status' | 'outcome' | 'isError' | 'retrying' | 'suspended' | 'cancelling'>;

export function shownState(row: StateFacts): ShownState {
  if (row.status === 'ended') return row.outcome === 'completed' && row.isError === true ? 'error' : (row.outcome ?? 'unknown');
  if (row.cancelling) return 'cancelling';
  if (row.status !== 'queued') return row.status;
  if (row.suspended) return 'suspended';
  return row.retrying ? 'retrying' : 'queued';
}

/** The state of a whole call, as its page shows it. */
export function stateOfCall(call: Call, cancelling: boolean): ShownState {
  const suspended = call.waiting?.reason === 'suspended';
  return shownState({ ...call, suspended, retrying: call.status === 'queued' && call.attempt > 0, cancelling });
}

export function rowOfSummary(call: CallSummary): CallRow {
  return {
    ...call,
    suspended: call.suspended === true,
    cancelling: false,
    submittedAt: Date.parse(call.submittedAt),
    startedAt: momentOf(call.startedAt),
    endedAt: momentOf(call.endedAt),
    runMs: call.runMs ?? runOf(call),
  };
}

function runOf({ startedAt, endedAt }: CallSummary): number | undefined {
  return startedAt === undefined || endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
}

function momentOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

/** The row after an event. A row for an unknown call starts with the fields of the envelope and the time in its id. */
export function foldRow(before: CallRow | undefined, event: CallEvent): CallRow {
  const at = Date.parse(event.time);
  const row: CallRow = { ...(before ?? rowOfEnvelope(event)), attempt: Math.max(before?.attempt ?? 0, event.attempt) };
  switch (event.type) {
    case 'call.submitted':
      return {
        ...row,
        submittedAt: at,
        pool: event.data.pool,
        priority: event.data.priority,
        risk: event.data.decision.risk,
        batchId: event.data.batchId,
        parentCallId: event.data.parentCallId,
        scheduleId: event.data.scheduleId,
        preview: previewOf(event.data.arguments) ?? event.data.argumentsRef?.preview,
      };
    case 'call.approval_requested':
      return { ...row, status: 'waiting_approval' };
    case 'call.approval_decided':
      return { ...row, status: 'queued', ...editedPreview(event.data.edited) };
    case 'call.start':
      return {
        ...row,
        status: 'running',
        retrying: false,
        suspended: false,
        startedAt: row.startedAt ?? at,
        waitMs: row.waitMs ?? at - row.submittedAt,
      };
    case 'call.retry':
      return {
        ...row,
        status: 'queued',
        retrying: event.data.reason !== 'suspended',
        suspended: event.data.reason === 'suspended',
        error: event.data.error ?? row.error,
      };
    case 'call.input_requested':
      return { ...row, status: 'waiting_input', retrying: false, suspended: false };
    case 'call.input_given':
      return { ...row, status: 'queued', suspended: true };
    case 'call.cancel_requested':
      return { ...row, cancelling: true };
    case 'call.end':
      return {
        ...row,
        status: 'ended',
        outcome: event.data.outcome,
        isError: event.data.isError,
        note: event.data.note,
        retrying: false,
        suspended: false,
        cancelling: false,
        endedAt: at,
        waitMs: event.data.queueMs ?? row.waitMs,
        runMs: event.data.runMs ?? (row.startedAt === undefined ? undefined : at - row.startedAt),
        error: event.data.error ?? (event.data.outcome === 'completed' ? undefined : row.error),
      };
    case 'call.update':
    case 'call.progress':
      return row.status === 'running' ? row : { ...row, status: 'running' };
    case 'call.hook':
    case 'call.turn':
      return row;
  }
}

function rowOfEnvelope(event: CallEvent): CallRow {
  return {
    id: event.subject,
    tool: event.tool,
    status: 'queued',
    retrying: false,
    suspended: false,
    cancelling: false,
    agentId: event.agentid,
    sessionId: event.sessionid,
    attempt: event.attempt,
    submittedAt: timeOfId(event.subject) ?? Date.parse(event.time),
  };
}

/** The arguments of an approver replace those that were submitted. */
function editedPreview(edited: EditedArguments | undefined): Pick<CallRow, 'preview'> | undefined {
  return edited && { preview: previewOf(edited.arguments) ?? edited.argumentsRef?.preview };
}

const PREVIEW_CHARS = 200;

export function previewOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value).slice(0, PREVIEW_CHARS);
}

/** Newest first: by the ULID, without the partition before it. */
export function byNewest(a: Pick<CallRow, 'id'>, b: Pick<CallRow, 'id'>): number {
  const left = a.id.slice(a.id.indexOf('-') + 1);
  const right = b.id.slice(b.id.indexOf('-') + 1);
  return left < right ? 1 : left > right ? -1 : 0;
}
