import type { CallFilter, ResultKind } from '#contracts';
import type { CallRecord } from './call-record.js';

/** The fields of a filter that are sets of values, of which a call may have any. */
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

/** Does the record fit every field of the filter but the free text? */
export function fits(record: CallRecord, filter: CallFilter): boolean {
  for (const field of FIELDS) {
    const wanted: readonly string[] | undefined = filter[field];
    if (wanted === undefined) continue;
    const value = field === 'errorCode' ? record.error?.code : record[field];
    if (value === undefined || !wanted.includes(value)) return false;
  }
  if (filter.result !== undefined && !fitsResult(record, filter.result)) return false;
  if (filter.since !== undefined && record.submittedAt < Date.parse(filter.since)) return false;
  return filter.until === undefined || record.submittedAt <= Date.parse(filter.until);
}

function fitsResult({ outcome, errorResult }: CallRecord, wanted: readonly ResultKind[]): boolean {
  if (outcome === undefined) return false;
  return wanted.includes(outcome === 'completed' && !errorResult ? 'ok' : 'error');
}
