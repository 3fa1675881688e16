import type { CallFilter, ResultKind } from '#contracts';
import type { CallRecord } from './call-record.js';

/** Fields of a filter that are sets of values. */
const FIELDS = [
  'status',
  'outcome',
  'tool',
  'pool',
  'priority',
  'agentId',
  'userId',
  'risk',
  'sessionId',
  'errorCode',
  'fingerprint',
  'batchId',
  'parentCallId',
  'rootCallId',
  'scheduleId',
  'toolCallId',
] as const satisfies readonly (keyof CallFilter)[];

/** True if the record matches every field of the filter but the free text. */
export function matchesFilter(record: CallRecord, filter: CallFilter): boolean {
  for (const field of FIELDS) {
    const values: readonly string[] | undefined = filter[field];
    if (values === undefined) continue;
    const value = field === 'errorCode' ? record.error?.code : record[field];
    if (value === undefined || !values.includes(value)) return false;
  }
  if (filter.result !== undefined && !fitsResult(record, filter.result)) return false;
  if (filter.since !== undefined && record.submittedAt < Date.parse(filter.since)) return false;
  return filter.until === undefined || record.submittedAt <= Date.parse(filter.until);
}

function fitsResult({ outcome, errorResult }: CallRecord, values: readonly ResultKind[]): boolean {
  if (outcome === undefined) return false;
  return values.includes(outcome === 'completed' && !errorResult ? 'ok' : 'error');
}
