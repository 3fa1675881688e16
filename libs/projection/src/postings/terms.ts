import type { CallFilter } from '#contracts';
import type { CallRecord } from '../record/call-record.js';

/** The fields of a filter that are sets of values, and the letter of each in the index. */
const DIMENSIONS = {
  status: 's',
  outcome: 'o',
  tool: 't',
  pool: 'p',
  priority: 'i',
  agentId: 'a',
  sessionId: 'n',
  errorCode: 'c',
  fingerprint: 'f',
  batchId: 'b',
  parentCallId: 'u',
  rootCallId: 'r',
} as const satisfies Partial<Record<keyof CallFilter, string>>;

type Dimension = keyof typeof DIMENSIONS;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the type
const NAMES = Object.keys(DIMENSIONS) as Dimension[];

function valueOf(record: CallRecord, dimension: Dimension): string | undefined {
  return dimension === 'errorCode' ? record.error?.code : record[dimension];
}

/** What a call is found by: a letter for the field and its value. */
export function termsOf(record: CallRecord): string[] {
  return NAMES.flatMap((dimension) => {
    const value = valueOf(record, dimension);
    return value === undefined ? [] : [`${DIMENSIONS[dimension]}:${value}`];
  });
}

/** The terms of a filter: one of each group must fit. */
export function termGroupsOf(filter: CallFilter): string[][] {
  return NAMES.flatMap((dimension) => {
    const values = filter[dimension];
    return values === undefined ? [] : [values.map((value) => `${DIMENSIONS[dimension]}:${value}`)];
  });
}

/** Does the record fit every field of the filter but the free text? */
export function fits(record: CallRecord, filter: CallFilter): boolean {
  for (const dimension of NAMES) {
    const wanted: readonly string[] | undefined = filter[dimension];
    if (wanted === undefined) continue;
    const value = valueOf(record, dimension);
    if (value === undefined || !wanted.includes(value)) return false;
  }
  if (filter.since !== undefined && record.submittedAt < Date.parse(filter.since)) return false;
  return filter.until === undefined || record.submittedAt <= Date.parse(filter.until);
}
