import type { CallRecord } from './call-record.js';

/** Record of an erased call, with caller, tool, times and outcome only. */
export function erasedRecord(record: CallRecord): CallRecord {
  const { error } = record;
  const texts = { labels: {}, preview: '', note: undefined, fingerprint: undefined, toolCallId: undefined, userId: undefined };
  // A rebuild cannot read how large the result was.
  const without = { ...texts, outputBytes: undefined };
  return { ...record, ...without, error: error && { code: error.code, message: '' } };
}
