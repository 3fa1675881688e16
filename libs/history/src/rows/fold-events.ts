import { sql } from 'kysely';
import type { CallEvent } from '#contracts';
import type { CallRecord } from '../record/call-record.js';
import { erasedRecord } from '../record/erased-record.js';
import { foldRecord } from '../record/fold-record.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { erasedOf } from './erased-of.js';
import { recordOf, weekOf } from './call-row.js';

/** Change of a call by events. */
export interface Change {
  readonly tenantId: string;
  /** Record of its row; undefined for a call without a row. */
  readonly before: CallRecord | undefined;
  readonly after: CallRecord;
}

/**
 * Changes of calls by events in their order, by call, in the order of their first event. Reads the rows of calls submitted
 * before the events; writes nothing.
 */
export async function foldEvents(db: HistoryDatabase, events: readonly CallEvent[]): Promise<ReadonlyMap<string, Change>> {
  const records = await readRecords(db, callsNamedBy(events));
  const changes = new Map<string, Change>();
  for (const event of events) {
    const { subject: callId, tenantid: tenantId } = event;
    const stored = records.get(callId);
    const change = changes.get(callId);
    const current = change?.after ?? stored?.record;
    const after = foldRecord(current, event, (parentId) => {
      const parent = changes.get(parentId)?.after ?? records.get(parentId)?.record;
      return parent?.rootCallId ?? parent?.id;
    });
    if (after === undefined || after === current) continue;
    changes.set(callId, { tenantId, before: change === undefined ? stored?.record : change.before, after });
  }
  return withoutErased(db, changes);
}

/** Removes the content of erased calls, whose events may still be in Redis and are read by a rebuild. */
async function withoutErased(db: HistoryDatabase, changes: ReadonlyMap<string, Change>): Promise<ReadonlyMap<string, Change>> {
  const erased = await erasedOf(db, [...changes.keys()]);
  if (erased.size === 0) return changes;
  return new Map(
    [...changes].map(([callId, change]) => [callId, erased.has(callId) ? { ...change, after: erasedRecord(change.after) } : change]),
  );
}

/** Calls whose rows are needed: those that the events continue, and the parents of new ones. Newly submitted calls have no row. */
function callsNamedBy(events: readonly CallEvent[]): string[] {
  const submitted = new Set<string>();
  const named = new Set<string>();
  for (const event of events) {
    if (event.type === 'call.submitted') {
      submitted.add(event.subject);
      if (event.data.parentCallId !== undefined) named.add(event.data.parentCallId);
    } else named.add(event.subject);
  }
  return [...named].filter((callId) => !submitted.has(callId));
}

async function readRecords(db: HistoryDatabase, callIds: readonly string[]): Promise<Map<string, { readonly record: CallRecord }>> {
  const weeks = [...new Set(callIds.map(weekOf))].filter((week) => week !== undefined);
  if (weeks.length === 0) return new Map();
  const rows = await db
    .selectFrom('calls')
    .select(RECORD_COLUMNS)
    .where('week', 'in', weeks)
    .where(sql<boolean>`id = any(${callIds}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, { record: recordOf(row) }]));
}

/** Columns without the words, which are only searched. */
export const RECORD_COLUMNS = [
  'id',
  'week',
  'partition',
  'tenant_id',
  'tool',
  'pool',
  'priority',
  'status',
  'outcome',
  'error_result',
  'note',
  'error_code',
  'error_message',
  'fingerprint',
  'attempt',
  'suspended',
  'session_id',
  'agent_id',
  'user_id',
  'risk',
  'batch_id',
  'parent_call_id',
  'root_call_id',
  'replay_of',
  'schedule_id',
  'tool_call_id',
  'labels',
  'preview',
  'submitted_at',
  'started_at',
  'ended_at',
  'wait_ms',
  'run_ms',
  'asked',
  'output_bytes',
  'cpu_ms',
] as const;
