import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { CallFilter } from '#contracts';
import type { HistoryTables } from '../database/tables.js';
import { storable } from '../rows/call-row.js';

type Calls = ExpressionBuilder<HistoryTables, 'calls'>;

/** Columns of the filter fields that are sets of values. */
const COLUMNS = {
  status: 'status',
  outcome: 'outcome',
  tool: 'tool',
  pool: 'pool',
  priority: 'priority',
  sessionId: 'session_id',
  agentId: 'agent_id',
  userId: 'user_id',
  risk: 'risk',
  errorCode: 'error_code',
  fingerprint: 'fingerprint',
  batchId: 'batch_id',
  parentCallId: 'parent_call_id',
  rootCallId: 'root_call_id',
  scheduleId: 'schedule_id',
  toolCallId: 'tool_call_id',
} as const satisfies Partial<Record<keyof CallFilter, keyof HistoryTables['calls']>>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the type
const FIELDS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/**
 * Conditions of a filter, for the rows of a tenant. `words` are those of its free text: each must be the beginning of a word of
 * the call.
 */
export function conditionsOf(calls: Calls, tenantId: string, filter: CallFilter, words: readonly string[]): Expression<SqlBool>[] {
  const conditions: Expression<SqlBool>[] = [calls('tenant_id', '=', tenantId)];
  for (const field of FIELDS) {
    const values: readonly string[] | undefined = filter[field];
    if (values !== undefined) conditions.push(sql<boolean>`${calls.ref(COLUMNS[field])} in (${sql.join(values.map(storable))})`);
  }
  if (filter.result !== undefined) conditions.push(calls.or(filter.result.map((kind) => resultIs(calls, kind))));
  if (filter.since !== undefined) conditions.push(calls('submitted_at', '>=', new Date(filter.since)));
  if (filter.until !== undefined) conditions.push(calls('submitted_at', '<=', new Date(filter.until)));
  if (words.length > 0) conditions.push(sql<boolean>`words @@ ${words.map((word) => `'${word}':*`).join(' & ')}::tsquery`);
  return conditions;
}

function resultIs(calls: Calls, kind: 'ok' | 'error'): Expression<SqlBool> {
  return kind === 'ok'
    ? calls.and([calls('outcome', '=', 'completed'), calls('error_result', '=', false)])
    : calls.or([calls('outcome', '!=', 'completed'), calls('error_result', '=', true)]);
}
