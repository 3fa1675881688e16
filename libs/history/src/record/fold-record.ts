import { successOf, type CallEvent, type CallEventOf } from '#contracts';
import { type CallRecord, isFailedOutcome } from './call-record.js';
import { errorResultFingerprint, fingerprintOf } from './fingerprint.js';

/** Longest texts of a record, in characters. */
const PREVIEW_CHARS = 160;
const MESSAGE_CHARS = 240;
const LABELS_CHARS = 1_024;

/**
 * Record after another event. Undefined for a call without its submission, which was trimmed. `rootOf` returns the root of an
 * open call, undefined for any other.
 */
export function foldRecord(
  record: CallRecord | undefined,
  event: CallEvent,
  rootOf: (callId: string) => string | undefined,
): CallRecord | undefined {
  if (event.type === 'call.submitted') return submitted(event, rootOf);
  if (record === undefined) return undefined;
  switch (event.type) {
    case 'call.approval_requested':
      return { ...record, status: 'waiting_approval', asked: true };
    case 'call.approval_decided':
      return event.data.decision === 'allow' ? { ...record, status: 'queued' } : record;
    case 'call.start':
      return {
        ...record,
        status: 'running',
        suspended: undefined,
        attempt: event.attempt,
        startedAt: record.startedAt ?? Date.parse(event.time),
      };
    case 'call.retry':
      return {
        ...record,
        status: 'queued',
        suspended: event.data.reason === 'suspended' ? true : undefined,
        error: shortened(event.data.error) ?? record.error,
      };
    case 'call.input_requested':
      return { ...record, status: 'waiting_input', suspended: undefined };
    case 'call.input_given':
      return { ...record, status: 'queued', suspended: true };
    case 'call.end':
      return ended(record, event);
    case 'call.update':
    case 'call.progress':
    case 'call.hook':
    case 'call.turn':
    case 'call.cancel_requested':
      return record;
    default:
      return event satisfies never;
  }
}

function submitted(event: CallEventOf<'call.submitted'>, rootOf: (callId: string) => string | undefined): CallRecord {
  const { data } = event;
  const args = data.argumentsRef?.preview ?? JSON.stringify(data.arguments ?? null);
  return {
    id: event.subject,
    tool: event.tool,
    pool: data.pool,
    priority: data.priority,
    status: 'queued',
    attempt: 0,
    submittedAt: Date.parse(event.time),
    labels: bounded(data.labels),
    preview: cut(args, PREVIEW_CHARS),
    sessionId: event.sessionid,
    agentId: event.agentid,
    userId: data.userId,
    risk: data.decision.risk,
    batchId: data.batchId,
    parentCallId: data.parentCallId,
    rootCallId: data.parentCallId === undefined ? undefined : (rootOf(data.parentCallId) ?? data.parentCallId),
    replayOf: data.replayOf,
    scheduleId: data.scheduleId,
    toolCallId: data.toolCallId,
  };
}

function ended(record: CallRecord, { time, data }: CallEventOf<'call.end'>): CallRecord {
  const { outcome, error, note = '' } = data;
  const errorResult = outcome === 'completed' && successOf(data, data.result?.isError).isError ? true : undefined;
  return {
    ...record,
    status: 'ended',
    suspended: undefined,
    outcome,
    errorResult,
    note: errorResult && note !== '' ? note : undefined,
    endedAt: Date.parse(time),
    outputBytes: outputBytesOf(data),
    runMs: wholeMs(data.runMs),
    cpuMs: wholeMs(data.cpuMs),
    error: shortened(error),
    fingerprint: errorResult
      ? errorResultFingerprint(record.tool, note, record.preview)
      : error !== undefined && isFailedOutcome(outcome)
        ? fingerprintOf(record.tool, error.code, error.message)
        : undefined,
  };
}

function shortened(error: CallEventOf<'call.end'>['data']['error']): CallRecord['error'] {
  return error && { code: error.code, message: cut(error.message, MESSAGE_CHARS) };
}

function wholeMs(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.max(0, Math.round(ms));
}

/** Size of the stored output, or of the result's content if nothing is stored. */
function outputBytesOf({ output, resultRef, result }: CallEventOf<'call.end'>['data']): number | undefined {
  const storedBytes = output?.bytes ?? resultRef?.bytes;
  if (storedBytes !== undefined || result?.content === undefined) return storedBytes;
  const texts = result.content.map((item) => {
    if (item.type !== 'text') return JSON.stringify(item);
    // A malformed event may lack the text.
    const text: unknown = item.text;
    return typeof text === 'string' ? text : '';
  });
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Cuts a text, never within a surrogate pair. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '');
}

function bounded(labels: Readonly<Record<string, string>>): Record<string, string> {
  let chars = 0;
  return Object.fromEntries(Object.entries(labels).filter(([name, value]) => (chars += name.length + value.length) <= LABELS_CHARS));
}
