import { decodeTime } from 'ulidx';
import { waitMsOf, type CallRecord } from '../record/call-record.js';
import { wordsOf } from '../record/search-terms.js';
import type { Selectable } from 'kysely';
import type { CallsTable } from '../database/tables.js';

const DAY_MS = 24 * 3_600_000;
/** 1970-01-01 was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Last time whose year has four digits. */
const LAST_MS = Date.UTC(9999, 11, 1);

/**
 * Monday of the week in which an id was made, in UTC. Every event contains the id and therefore finds the row. Undefined for
 * any other text, or an impossible time, for which there is no row.
 */
export function weekOf(callId: string): string | undefined {
  const ulid = callId.slice(callId.indexOf('-') + 1);
  if (!ULID.test(ulid)) return undefined;
  const time = decodeTime(ulid);
  if (time > LAST_MS) return undefined;
  const weeks = Math.floor((time - FIRST_MONDAY_MS) / (7 * DAY_MS));
  return new Date(FIRST_MONDAY_MS + weeks * 7 * DAY_MS).toISOString().slice(0, 10);
}

/** Next week, in the format of `weekOf`. */
export function nextWeek(week: string): string {
  return new Date(Date.parse(week) + 7 * DAY_MS).toISOString().slice(0, 10);
}

/** Replaces NUL and halves of surrogate pairs, which PostgreSQL cannot store, by U+FFFD. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Columns of a call as JSON: times as RFC 3339, the words in the input format of `tsvector`. */
export function rowOf(record: CallRecord, tenantId: string, partition: string): Record<keyof CallsTable, unknown> {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const text = (value: string | undefined) => (value === undefined ? null : storable(value));
  return {
    id: record.id,
    week: weekOf(record.id),
    partition,
    tenant_id: tenantId,
    tool: storable(record.tool),
    pool: record.pool,
    priority: record.priority,
    status: record.status,
    outcome: record.outcome ?? null,
    error_result: record.errorResult === true,
    note: text(record.note),
    error_code: record.error?.code ?? null,
    error_message: text(record.error?.message),
    fingerprint: record.fingerprint ?? null,
    attempt: record.attempt,
    suspended: record.suspended === true,
    session_id: record.sessionId ?? null,
    agent_id: record.agentId ?? null,
    user_id: text(record.userId),
    risk: record.risk ?? null,
    batch_id: record.batchId ?? null,
    parent_call_id: record.parentCallId ?? null,
    root_call_id: record.rootCallId ?? null,
    replay_of: record.replayOf ?? null,
    schedule_id: text(record.scheduleId),
    tool_call_id: text(record.toolCallId),
    labels: Object.fromEntries(Object.entries(record.labels).map(([name, value]) => [storable(name), storable(value)])),
    preview: storable(record.preview),
    submitted_at: time(record.submittedAt),
    started_at: time(record.startedAt),
    ended_at: time(record.endedAt),
    wait_ms: waitMsOf(record) ?? null,
    run_ms: record.runMs ?? null,
    asked: record.asked === true,
    output_bytes: record.outputBytes ?? null,
    cpu_ms: record.cpuMs ?? null,
    // A word may have been cut within a surrogate pair.
    words: wordsOf(record)
      .map((word) => `'${storable(word)}'`)
      .join(' '),
  };
}

/** Row without the texts of people and models; the rest is made by this system, and short. */
export function withoutTexts(row: ReturnType<typeof rowOf>): ReturnType<typeof rowOf> {
  const error_message = row.error_message === null ? null : '';
  return { ...row, error_message, note: null, tool_call_id: null, user_id: null, labels: {}, preview: '', words: '' };
}

/** Record of a row; inverse of `rowOf` but for characters that cannot be stored. */
export function recordOf(row: Omit<Selectable<CallsTable>, 'words'>): CallRecord {
  return {
    id: row.id,
    tool: row.tool,
    pool: row.pool,
    priority: row.priority,
    status: row.status,
    attempt: row.attempt,
    suspended: row.suspended ? true : undefined,
    submittedAt: row.submitted_at.getTime(),
    labels: row.labels,
    preview: row.preview,
    outcome: row.outcome ?? undefined,
    errorResult: row.error_result ? true : undefined,
    note: row.note ?? undefined,
    error: row.error_code === null ? undefined : { code: row.error_code, message: row.error_message ?? '' },
    fingerprint: row.fingerprint ?? undefined,
    sessionId: row.session_id ?? undefined,
    agentId: row.agent_id ?? undefined,
    userId: row.user_id ?? undefined,
    risk: row.risk ?? undefined,
    batchId: row.batch_id ?? undefined,
    parentCallId: row.parent_call_id ?? undefined,
    rootCallId: row.root_call_id ?? undefined,
    replayOf: row.replay_of ?? undefined,
    scheduleId: row.schedule_id ?? undefined,
    toolCallId: row.tool_call_id ?? undefined,
    startedAt: row.started_at?.getTime(),
    endedAt: row.ended_at?.getTime(),
    runMs: row.run_ms ?? undefined,
    asked: row.asked ? true : undefined,
    outputBytes: row.output_bytes ?? undefined,
    cpuMs: row.cpu_ms ?? undefined,
  };
}
