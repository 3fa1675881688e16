import { z } from 'zod';
import { CALL_ERROR_CODES } from '../errors/error.catalog.js';
import { Problem } from '../errors/problem.js';
import { Call, CallOutcome, CallStatus, Priority, Success } from '../calls/call.js';
import { CallId, Label } from '../calls/names.js';
import { Pool } from '../tools/tool.js';
import { CancelBody, LIMITS } from './calls.api.js';

/** A number in a query, where every value is a text: what is none is not called NaN. */
export const QueryNumber = z.coerce.number<number>({
  error: ({ code, expected }) => (code === 'invalid_type' && expected === 'number' ? 'expected a number' : undefined),
});

/** Bounds of what a query may ask for. */
export const QUERY_LIMITS = { anyOf: 50, searchChars: 256, cursorChars: 4096, bulk: 500 } as const;

/**
 * One value or several, of which any may fit: `a,b` (as a query parameter too) or `["a", "b"]`. The input is typed as text,
 * since a text with commas is one; documents show the values.
 */
export function anyOf<T extends string>(item: z.ZodType<T, string>, example: string): z.ZodType<T[], string | readonly string[]> {
  const list = z.array(item).min(1).max(QUERY_LIMITS.anyOf);
  const schema = z
    .preprocess(partsOf, z.union([item, list], { error: ({ input, errors }) => typeMessage(errors[Array.isArray(input) ? 1 : 0]) }))
    .transform((given) => (typeof given === 'string' ? [given] : given))
    .meta({ description: 'One value, or several with commas: any of them fits.', examples: [example] });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `preprocess` takes anything; what is neither a text nor a list is refused
  return schema as unknown as z.ZodType<T[], string | readonly string[]>;
}

function partsOf(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  const parts = given.split(',').map((part) => part.trim());
  return parts.length === 1 ? parts[0] : parts;
}

/** The message for a value of a wrong type; else that of the first invalid value of a list. */
function typeMessage(faults: readonly z.core.$ZodIssue[] = []): string {
  const [first] = faults;
  if (first === undefined || (first.code === 'invalid_type' && first.path.length === 0))
    return 'expected one value, several with commas between them, or a list';
  return first.message;
}

const Timestamp = z.iso.datetime({ offset: true });
const Cursor = z.string().max(QUERY_LIMITS.cursorChars);

/** Of ended calls: `ok` succeeded, `error` did not (see `ok` of a call). */
export const ResultKind = z.enum(['ok', 'error']).meta({ id: 'ResultKind' });
export type ResultKind = z.output<typeof ResultKind>;

/**
 * Which calls: every field that is given must fit. `since` and `until` are about the submission, both inclusive. `q` is
 * free text: each of its words must begin a word of the call's id, tool, agent, session, labels, error message or
 * (small) arguments.
 */
export const CallFilter = z
  .strictObject({
    status: anyOf(CallStatus, 'queued,running').optional(),
    outcome: anyOf(CallOutcome, 'failed,timed_out').optional(),
    result: anyOf(ResultKind, 'error').optional(),
    tool: anyOf(z.string().min(1).max(256), 'shell').optional(),
    sessionId: anyOf(Label, 'session-1').optional(),
    agentId: anyOf(Label, 'agent-1').optional(),
    pool: anyOf(Pool, 'shell').optional(),
    errorCode: anyOf(z.enum(CALL_ERROR_CODES), 'tool_failed').optional(),
    fingerprint: anyOf(
      z.string().regex(/^[0-9a-f]{16}$/, 'expected the fingerprint of a group of failures'),
      '9f86d081884c7d65',
    ).optional(),
    batchId: anyOf(CallId, '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').optional(),
    parentCallId: anyOf(CallId, '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').optional(),
    rootCallId: anyOf(CallId, '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').optional(),
    /** The model's own id. It has no index of its own, but its words are in that of the free text. */
    toolCallId: anyOf(z.string().min(1).max(256), 'toolu_01A09q90qw90lq917835lq9').optional(),
    priority: anyOf(Priority, 'high').optional(),
    since: Timestamp.optional().describe('Submitted at this time or later.'),
    until: Timestamp.optional().describe('Submitted at this time or earlier.'),
    q: z
      .string()
      .min(1)
      .max(QUERY_LIMITS.searchChars)
      .optional()
      .describe('Free text: each word must begin a word of id, tool, agent, session, labels, error message or small arguments.'),
  })
  .meta({ id: 'CallFilter' });
export type CallFilter = z.output<typeof CallFilter>;
/** As a caller may write it: one value, a text with commas, or a list. */
export type CallFilterInput = z.input<typeof CallFilter>;

/** `GET /v1/calls`. */
export const ListCallsQuery = CallFilter.extend({
  cursor: Cursor.optional(),
  limit: QueryNumber.int().min(1).max(LIMITS.pageSize).default(50),
}).meta({ id: 'ListCallsQuery' });
export type ListCallsQuery = z.output<typeof ListCallsQuery>;
export type ListCallsInput = z.input<typeof ListCallsQuery>;

/**
 * A call as lists show it. `waitMs`: from the submission to the first Start; `runMs`: of the last attempt, when it ended.
 * `retrying`: it failed before and another attempt is due. `suspended`: it waits for a time or for other calls, and holds no worker. `rootCallId`: the call at the top of its tree; absent for a
 * call without a parent. `preview`: the beginning of the arguments as JSON text.
 */
export const CallSummary = z
  .object({
    id: z.string(),
    tool: z.string(),
    pool: Pool,
    status: CallStatus,
    outcome: CallOutcome.optional(),
    ...Success,
    error: z.object({ code: z.enum(CALL_ERROR_CODES), message: z.string() }).optional(),
    fingerprint: z.string().optional().describe('The group of similar failures.'),
    attempt: z.number().int().describe('The number of the current or last attempt; 0 before the first.'),
    retrying: z.boolean().describe('It failed before, and another attempt is due.'),
    suspended: z.literal(true).optional().describe('It waits for a time or for other calls, without a worker.'),
    priority: Priority,
    sessionId: z.string().optional(),
    agentId: z.string().optional(),
    batchId: z.string().optional(),
    parentCallId: z.string().optional(),
    rootCallId: z.string().optional(),
    replayOf: z.string().optional(),
    toolCallId: z.string().optional(),
    labels: z.record(z.string(), z.string()),
    preview: z.string().describe('The beginning of the arguments as JSON text.'),
    submittedAt: z.string(),
    startedAt: z.string().optional(),
    endedAt: z.string().optional(),
    waitMs: z.number().int().optional().describe('From the submission to the first Start.'),
    runMs: z.number().int().optional().describe('The duration of the last attempt; present after the End.'),
  })
  .meta({ id: 'CallSummary' });
export type CallSummary = z.output<typeof CallSummary>;

/** There when an answer is older than the log: so many events are not in it, the oldest of them so long ago. */
export const Behind = z.object({ events: z.number().int(), ms: z.number().int() }).meta({ id: 'Behind' });
export type Behind = z.output<typeof Behind>;

/**
 * A page of calls, newest first. `nextCursor` is absent on the last page; with a rare filter a page may be short, even
 * empty, and still have one. `total`: how many calls fit the filter altogether; only where that costs nothing.
 */
export const CallPage = z
  .object({
    calls: z.array(CallSummary),
    nextCursor: z.string().optional(),
    total: z.number().int().optional(),
    behind: Behind.optional(),
  })
  .meta({ id: 'CallPage' });
export type CallPage = z.output<typeof CallPage>;

/** `GET /v1/approvals`: whole calls, with the question that waits. */
export const ListApprovalsQuery = ListCallsQuery.pick({ cursor: true, limit: true });
export type ListApprovalsQuery = z.output<typeof ListApprovalsQuery>;
export const ApprovalPage = z.object({ calls: z.array(Call), nextCursor: z.string().optional() }).meta({ id: 'ApprovalPage' });
export type ApprovalPage = z.output<typeof ApprovalPage>;

/** `exact: false`: a bound of the work was reached, and there are at least as many; or the answer is behind the log, as `behind` says. */
export const CallCount = z.object({ count: z.number().int(), exact: z.boolean(), behind: Behind.optional() }).meta({ id: 'CallCount' });
export type CallCount = z.output<typeof CallCount>;

const bulk = {
  /** An empty filter would mean every call there is, so it is refused. */
  filter: CallFilter.refine(
    (filter) => Object.keys(filter).length > 0,
    'expected at least one field: an empty filter would mean every call',
  ),
  dryRun: z.boolean().default(false),
  /** At most so many calls in one request; go on with the `cursor` of the answer. */
  limit: z.number().int().min(1).max(QUERY_LIMITS.bulk).default(QUERY_LIMITS.bulk),
  cursor: Cursor.optional(),
};

/** `POST /v1/calls:cancel`: of the calls that fit, those that have not ended. */
export const BulkCancelBody = z
  .strictObject({ ...bulk, reason: CancelBody.shape.reason, graceMs: CancelBody.shape.graceMs })
  .meta({ id: 'BulkCancel' });
export type BulkCancelBody = z.output<typeof BulkCancelBody>;

/** `POST /v1/calls:replay`: of the calls that fit, those that have ended. */
export const BulkReplayBody = z.strictObject(bulk).meta({ id: 'BulkReplay' });
export type BulkReplayBody = z.output<typeof BulkReplayBody>;

/**
 * What came of a bulk request. `matched`: how many calls fit (with `exact: false` about as many, see `CallCount`); of these `done` in
 * this request, and `failed` with the problem of each. `cursor`: there are more; send the same request with it.
 * A dry run says `matched` and changes nothing.
 */
export const BulkResult = z
  .object({
    matched: z.number().int().describe('The number of calls that match the filter.'),
    exact: z.boolean().describe('`false`: at least `matched` calls match.'),
    done: z.number().int().describe('Calls that this request cancelled or replayed.'),
    failed: z.array(z.object({ callId: z.string(), problem: Problem })),
    cursor: z.string().optional(),
  })
  .meta({ id: 'BulkResult' });
export type BulkResult = z.output<typeof BulkResult>;
