import { decodeTime } from 'ulidx';
import { waitMsOf, type CallRecord } from '../record/call-record.js';
import { wordsOf } from '../record/search-terms.js';
import type { Selectable } from 'kysely';
import type { CallsTable } from '../database/tables.js';

const DAY_MS = 24 * 3_600_000;
const WEEK_MS = 7 * DAY_MS;
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
  const monday = FIRST_MONDAY_MS + Math.floor((time - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS;
  if (monday !== lastWeek.monday) lastWeek = { monday, text: new Date(monday).toISOString().slice(0, 10) };
  return lastWeek.text;
}

/** Most calls are of the same week. */
let lastWeek = { monday: Number.NaN, text: '' };

/** Next week, in the format of `weekOf`. */
export function nextWeek(week: string): string {
  return new Date(Date.parse(week) + WEEK_MS).toISOString().slice(0, 10);
}

/** Replaces NUL and halves of surrogate pairs, which PostgreSQL cannot store, by U+FFFD. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Columns of a call as JSON, which leaves out undefined ones: PostgreSQL reads them as null. */
export type JsonRow = Record<keyof CallsTable, unknown>;

/** Row with times as RFC 3339, and the words in the input format of `tsvector`. */
export function rowOf(record: CallRecord, tenantId: string, partition: string): JsonRow {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const text = (value: string | undefined) => (value === undefined ? undefined : storable(value));
  return {
    id: record.id,
    week: weekOf(record.id),
    partition,
    tenant_id: tenantId,
    tool: storable(record.tool),
    pool: record.pool,
    priority: record.priority,
    status: record.status,
    outcome: record.outcome,
    error_result: record.errorResult === true,
    note: text(record.note),
    error_code: record.error?.code,
    error_message: text(record.error?.message),
    fingerprint: record.fingerprint,
    attempt: record.attempt,
    suspended: record.suspended === true,
    session_id: record.sessionId,
    agent_id: record.agentId,
    user_id: text(record.userId),
    risk: record.risk,
    batch_id: record.batchId,
    parent_call_id: record.parentCallId,
    root_call_id: record.rootCallId,
    replay_of: record.replayOf,
    schedule_id: text(record.scheduleId),
    tool_call_id: text(record.toolCallId),
    labels: Object.fromEntries(Object.entries(record.labels).map(([name, value]) => [storable(name), storable(value)])),
    preview: storable(record.preview),
    submitted_at: time(record.submittedAt),
    started_at: time(record.startedAt),
    ended_at: time(record.endedAt),
    wait_ms: waitMsOf(record),
    run_ms: record.runMs,
    asked: record.asked === true,
    output_bytes: record.outputBytes,
    cpu_ms: record.cpuMs,
    // A word may have been cut within a surrogate pair.
    words: wordsOf(record)
      .map((word) => `'${storable(word)}'`)
      .join(' '),
  };
}

/** Row without the texts of people and models; the rest is made by this system, and short. */
export function withoutTexts(row: JsonRow): JsonRow {
  const error_message = row.error_message === undefined ? undefined : '';
  return { ...row, error_message, note: undefined, tool_call_id: undefined, user_id: undefined, labels: {}, preview: '', words: '' };
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
