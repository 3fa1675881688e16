import { z } from 'zod';
import { CallId, IdempotencyKey, LIMITS, ProblemError, Traceparent, type Violation } from '#contracts';

/** Names of the parts of a request in errors. */
export type InputPart = 'body' | 'query' | 'path' | 'frame' | `header ${string}`;

/** Most faults in a problem: a body can have a hundred thousand. */
const MOST_FAULTS = 100;

/** Value in the documented form. @throws ProblemError with the first 100 faults and their JSON Pointers */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: InputPart): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap(violationsOf);
  const errors = faults.slice(0, MOST_FAULTS);
  const more = faults.length > errors.length ? `; and ${faults.length - errors.length} more` : '';
  throw new ProblemError('invalid_request', `The ${what} is not valid: ${errors.map(sentence).join('; ')}${more}`, {
    errors,
  });
}

/** @throws ProblemError `resource_not_found` for a malformed call id, as for an unknown one */
export function parseCallId(text: string): string {
  if (CallId.safeParse(text).success) return text;
  throw new ProblemError('resource_not_found', 'No call with this id');
}

export function parseIdempotencyKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : parse(IdempotencyKey, header, 'header Idempotency-Key');
}

/** Ignores a malformed traceparent, as the W3C recommendation requires. */
export function parseTraceparent(header: string | undefined): string | undefined {
  return header !== undefined && Traceparent.safeParse(header).success ? header : undefined;
}

/** `Prefer: wait=n` (RFC 7240) in whole seconds, capped; undefined without the preference. */
export function parsePreferWait(header: string | readonly string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const match = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=[,;]|$)/i.exec(typeof header === 'string' ? header : header.join(','));
  return match?.[1] === undefined ? undefined : Math.min(Number(match[1]), LIMITS.waitSeconds);
}

/** `Prefer: wait=n, cancel-on-disconnect`: true if the call is to be cancelled when the client disconnects during the wait. */
export function prefersCancel(header: string | readonly string[] | undefined): boolean {
  if (header === undefined || parsePreferWait(header) === undefined) return false;
  return /(?:^|[,;])\s*cancel-on-disconnect\s*(?=[,;]|$)/i.test(typeof header === 'string' ? header : header.join(','));
}

function violationsOf(issue: z.core.$ZodIssue): Violation[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ pointer: pointerTo([...issue.path, key]), message: 'unknown field' }));
  return [{ pointer: pointerTo(issue.path), message: issue.message }];
}

/** JSON Pointer by RFC 6901. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function sentence({ pointer, message }: Violation): string {
  return `${pointer === '' ? '(whole)' : pointer}: ${message}`;
}
