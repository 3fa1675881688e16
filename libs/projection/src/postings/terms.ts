import { CallOutcome, type CallFilter } from '#contracts';
import type { CallRecord } from '#history';

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

/** Of completed calls with an error result; all others are told by their outcome. */
const ERROR_RESULT = 'x:1';
const NOT_OK = [
  ...CallOutcome.options.filter((outcome) => outcome !== 'completed').map((outcome) => `${DIMENSIONS.outcome}:${outcome}`),
  ERROR_RESULT,
];

/** What a call is found by: a letter for the field and its value. */
export function termsOf(record: CallRecord): string[] {
  const terms = NAMES.flatMap((dimension) => {
    const value = valueOf(record, dimension);
    return value === undefined ? [] : [`${DIMENSIONS[dimension]}:${value}`];
  });
  if (record.errorResult) terms.push(ERROR_RESULT);
  return terms;
}

/** The terms of a filter: one of each group must fit. */
export function termGroupsOf(filter: CallFilter): string[][] {
  const groups = NAMES.flatMap((dimension) => {
    const values = filter[dimension];
    return values === undefined ? [] : [values.map((value) => `${DIMENSIONS[dimension]}:${value}`)];
  });
  const { result } = filter;
  if (result === undefined) return groups;
  const ok = result.includes('ok') ? [`${DIMENSIONS.outcome}:completed`] : [];
  return [...groups, [...ok, ...(result.includes('error') ? NOT_OK : [])]];
}

/** The terms of a filter that no call may have. */
export function excludedTermsOf({ result }: CallFilter): string[] {
  return result?.every((kind) => kind === 'ok') ? [ERROR_RESULT] : [];
}
