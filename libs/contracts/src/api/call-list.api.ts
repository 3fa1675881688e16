import { z } from 'zod';
import { CALL_ERROR_CODES } from '../errors/error.catalog.js';
import { Problem } from '../errors/problem.js';
import { Call, CallOutcome, CallStatus, Priority, Risk, Success } from '../calls/call.js';
import { CallId, Label, ScheduleId } from '../values/names.js';
import { Pool } from '../tools/tool.js';
import { LIMITS } from '../values/limits.js';
import { CancelBody } from './calls.api.js';
import { BULK_CANCEL_EXAMPLES, BULK_REPLAY_EXAMPLES } from '../values/examples.js';

/** Number in a query, where every value is a string. Its error does not mention NaN. */
export const QueryNumber = z.coerce.number<number>({
  error: ({ code, expected }) => (code === 'invalid_type' && expected === 'number' ? 'expected a number' : undefined),
});

/** Bounds of queries. */
export const QUERY_LIMITS = { anyOf: 50, searchChars: 256, cursorChars: 4096, bulk: 500 } as const;

/**
 * One value or several alternatives: `a,b` (also as a query parameter) or `["a", "b"]`. The input is typed as text, since a
 * text with commas is one; documents show the values.
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

/** Error for a value of a wrong type, else for the first invalid value of a list. */
function typeMessage(faults: readonly z.core.$ZodIssue[] = []): string {
  const [first] = faults;
  if (first === undefined || (first.code === 'invalid_type' && first.path.length === 0))
    return 'expected one value, several with commas between them, or a list';
  return first.message;
}

const Timestamp = z.iso.datetime({ offset: true });
const Cursor = z.string().max(QUERY_LIMITS.cursorChars);

export const ResultKind = z
  .enum(['ok', 'error'])
  .meta({ id: 'ResultKind', description: 'Of ended calls: `ok` succeeded, `error` did not.' });
export type ResultKind = z.output<typeof ResultKind>;

export const CallFilter = z
  .strictObject({
    status: anyOf(CallStatus, 'queued,running').optional().describe('Where the call is on its way.'),
    outcome: anyOf(CallOutcome, 'failed,timed_out').optional().describe('How the call ended.'),
    result: anyOf(ResultKind, 'error').optional().describe('Whether the call succeeded; only calls that ended fit.'),
    tool: anyOf(z.string().min(1).max(256), 'shell').optional().describe('Canonical name of the tool.'),
    sessionId: anyOf(Label, 'session-1').optional().describe('The session of the call.'),
    agentId: anyOf(Label, 'agent-1').optional().describe('The agent that made the call.'),
    userId: anyOf(Label, 'user-1').optional().describe('The user for whom it was made.'),
    risk: anyOf(Risk, 'high').optional().describe('What it may do at most.'),
    pool: anyOf(Pool, 'shell').optional().describe('The pool of its tool.'),
    errorCode: anyOf(z.enum(CALL_ERROR_CODES), 'tool_failed').optional().describe('The code of its error.'),
    fingerprint: anyOf(z.string().regex(/^[0-9a-f]{16}$/, 'expected the fingerprint of a group of failures'), '9f86d081884c7d65')
      .optional()
      .describe('The group of similar failures, as `GET /v1/failures` names it.'),
    batchId: anyOf(CallId, '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').optional().describe('The batch of the call.'),
    parentCallId: anyOf(CallId, '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').optional().describe('The call that made it.'),
    scheduleId: anyOf(ScheduleId, 'sch-6f1c2f0e-6a0a-4f6e-9a53-1f3c6c1f7a10').optional().describe('The schedule that submitted it.'),
    rootCallId: anyOf(CallId, '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V').optional().describe('The call at the top of its tree.'),
    toolCallId: anyOf(z.string().min(1).max(256), 'toolu_01A09q90qw90lq917835lq9')
      .optional()
      .describe('The id that the model gave to its tool call.'),
    priority: anyOf(Priority, 'high').optional().describe('Its priority.'),
    since: Timestamp.optional().describe('Submitted at this time or later.'),
    until: Timestamp.optional().describe('Submitted at this time or earlier.'),
    q: z
      .string()
      .min(1)
      .max(QUERY_LIMITS.searchChars)
      .optional()
      .describe(
        'Free text: each word must begin a word of id, its last 8 characters, tool, agent, session, labels, error message or small arguments.',
      ),
  })
  .meta({ id: 'CallFilter', description: 'Which calls: every field that is given must fit.' });
export type CallFilter = z.output<typeof CallFilter>;
/** Filter as input: one value, a text with commas, or a list. */
export type CallFilterInput = z.input<typeof CallFilter>;

export const CallSort = z.enum(['newest', 'risk']).meta({
  id: 'CallSort',
  description:
    '`newest`: what was submitted last comes first. `risk`: the highest risk first, and of the same risk what was submitted last.',
});
export type CallSort = z.output<typeof CallSort>;

/** Query of `GET /v1/calls`. */
export const ListCallsQuery = CallFilter.extend({
  sort: CallSort.optional().describe('The order; `newest` where it is absent. A `cursor` is of one order.'),
  cursor: Cursor.optional().describe('`nextCursor` of the page before. Absent for the first page.'),
  limit: QueryNumber.int().min(1).max(LIMITS.pageSize).default(50).describe('Most calls of the page: 1 to 200.'),
}).meta({ id: 'ListCallsQuery' });
export type ListCallsQuery = z.output<typeof ListCallsQuery>;
export type ListCallsInput = z.input<typeof ListCallsQuery>;

export const CallSummary = z
  .object({
    id: z.string().describe('The call.'),
    tool: z.string().describe('Canonical name of the tool.'),
    pool: Pool.describe('The pool of the tool.'),
    status: CallStatus.describe('Where the call is on its way.'),
    outcome: CallOutcome.optional().describe('How the call ended. Absent before the End.'),
    ...Success,
    error: z
      .object({
        code: z.enum(CALL_ERROR_CODES).describe('The reason, for programs.'),
        message: z.string().describe('The reason, for people.'),
      })
      .optional()
      .describe('Why the call, or its last attempt that was to be repeated, did not succeed. Absent for a completed call.'),
    fingerprint: z.string().optional().describe('The group of similar failures.'),
    attempt: z.number().int().describe('The number of the current or last attempt; 0 before the first.'),
    retrying: z.boolean().describe('It failed before, and another attempt is due.'),
    suspended: z.literal(true).optional().describe('It waits for a time or for other calls, without a worker.'),
    priority: Priority.describe('Which of the waiting calls of a pool run first.'),
    sessionId: z.string().optional().describe('The session that the call belongs to. Absent without one.'),
    agentId: z.string().optional().describe('The agent that made the call. Absent without one.'),
    userId: z.string().optional().describe('The user for whom the call is made. Absent without one, and of calls of earlier releases.'),
    risk: Risk.optional().describe('What the call may do at most. Absent where it was not evaluated, and of calls of earlier releases.'),
    batchId: z.string().optional().describe('The batch that the call belongs to. Absent without one.'),
    parentCallId: z.string().optional().describe('The call that made this one. Absent without a parent.'),
    rootCallId: z.string().optional().describe('The call at the top of the tree. Absent without a parent.'),
    replayOf: z.string().optional().describe('The call that this one runs again. Absent for the first run.'),
    scheduleId: z.string().optional().describe('The schedule that submitted the call. Absent for all other calls.'),
    toolCallId: z.string().optional().describe('The id that the model gave to its tool call. Absent if the submission named none.'),
    labels: z.record(z.string(), z.string()).describe('Names and values of the submission.'),
    preview: z.string().describe('The beginning of the arguments as JSON text.'),
    submittedAt: z.string().describe('When the call was stored: RFC 3339, UTC.'),
    startedAt: z.string().optional().describe('When the first attempt started. Absent before.'),
    endedAt: z.string().optional().describe('When the call ended. Absent before.'),
    waitMs: z.number().int().optional().describe('From the submission to the first Start.'),
    runMs: z.number().int().optional().describe('The duration of the last attempt; present after the End.'),
    cpuMs: z.number().int().optional().describe('CPU milliseconds of the programs that it ran; absent where that is not known.'),
  })
  .meta({ id: 'CallSummary', description: 'A call as lists show it.' });
export type CallSummary = z.output<typeof CallSummary>;

export const Behind = z
  .object({
    events: z.number().int().describe('Events of the log that are not in the answer.'),
    ms: z.number().int().describe('Age of the oldest of them in milliseconds.'),
  })
  .meta({ id: 'Behind', description: 'How far an answer is behind the log.' });
export type Behind = z.output<typeof Behind>;

export const CallPage = z
  .object({
    calls: z.array(CallSummary).describe('In the order of `sort`. A page may be short, even empty, and still have a `nextCursor`.'),
    nextCursor: z.string().optional().describe('The `cursor` of the next page. Absent on the last.'),
    total: z.number().int().optional().describe('How many calls fit the filter altogether. Only where that costs nothing.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'CallPage', description: 'A page of calls.' });
export type CallPage = z.output<typeof CallPage>;

export const ApprovalSort = z.enum(['newest', 'risk']).meta({
  id: 'ApprovalSort',
  description: '`newest`: what was asked last comes first. `risk`: the highest risk first, and of the same risk what waits longest.',
});
export type ApprovalSort = z.output<typeof ApprovalSort>;

/** Query of `GET /v1/approvals`, which returns whole calls with their pending request. */
export const ListApprovalsQuery = ListCallsQuery.pick({ cursor: true, limit: true, risk: true }).extend({
  sort: ApprovalSort.optional().describe('The order; `newest` where it is absent. A `cursor` is of one order.'),
});
export type ListApprovalsQuery = z.output<typeof ListApprovalsQuery>;
export const ApprovalPage = z
  .object({
    calls: z
      .array(Call)
      .describe(
        'Whole calls in the order of `sort`, with the question that waits. A page may be short, even empty, and still have a `nextCursor`.',
      ),
    nextCursor: z.string().optional().describe('The `cursor` of the next page. Absent on the last.'),
  })
  .meta({ id: 'ApprovalPage', description: 'A page of calls that wait for a person.' });
export type ApprovalPage = z.output<typeof ApprovalPage>;

export const CallCount = z
  .object({
    count: z.number().int().describe('How many calls fit.'),
    exact: z
      .boolean()
      .describe('False where a bound of the work was reached, and there are at least as many, or where the answer is behind the log.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'CallCount', description: 'How many calls fit a filter.' });
export type CallCount = z.output<typeof CallCount>;

/** Fields of a filter whose values `GET /v1/calls:facets` lists. */
export const FACET_FIELDS = [
  'status',
  'outcome',
  'tool',
  'agentId',
  'sessionId',
  'pool',
  'risk',
] as const satisfies readonly (keyof CallFilter)[];
export type FacetField = (typeof FACET_FIELDS)[number];

/** Most values of a field, and most calls counted for one. */
export const FACETS = { values: 20, counted: 20_000 } as const;

export const FacetValue = z
  .object({
    value: z.string().describe('A value that the filter takes for the field.'),
    count: z.number().int().describe('Calls with this value that fit the other fields of the filter.'),
  })
  .meta({ id: 'FacetValue', description: 'A value of a field, and how many calls have it.', examples: [{ value: 'shell', count: 17 }] });
export type FacetValue = z.output<typeof FacetValue>;

const facet = (field: string) => z.array(FacetValue).describe(`Values of ${field}, most calls first; at most ${FACETS.values}.`);

/** Response of `GET /v1/calls:facets`: values that can narrow a list. */
export const CallFacets = z
  .object({
    status: facet('`status`'),
    outcome: facet('`outcome`'),
    tool: facet('`tool`'),
    agentId: facet('`agentId`'),
    sessionId: facet('`sessionId`'),
    pool: facet('`pool`'),
    risk: facet('`risk`'),
    exact: z
      .boolean()
      .describe('False where more than 20,000 calls fit, of which others are not counted, or the answer is behind the log.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'CallFacets', description: 'How many calls have which values. Each field is counted as if the filter did not name it.' });
export type CallFacets = z.output<typeof CallFacets>;

export const bulkFields = {
  filter: CallFilter.refine(
    (filter) => Object.keys(filter).length > 0,
    'expected at least one field: an empty filter would mean every call',
  ).describe('Which calls. An empty filter would mean every call there is, so it is refused.'),
  dryRun: z.boolean().default(false).describe('Only say how many calls fit; change nothing.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(QUERY_LIMITS.bulk)
    .default(QUERY_LIMITS.bulk)
    .describe('Most calls of this request: 1 to 500. Go on with the `cursor` of the answer.'),
  cursor: Cursor.optional().describe('`cursor` of the answer before. Absent in the first request.'),
};

/** Body of `POST /v1/calls:cancel`, for matching calls that have not ended. */
export const BulkCancelBody = z.strictObject({ ...bulkFields, reason: CancelBody.shape.reason, graceMs: CancelBody.shape.graceMs }).meta({
  id: 'BulkCancel',
  description: 'Which calls to cancel; of those that fit, the ones that have not ended.',
  examples: BULK_CANCEL_EXAMPLES,
});
export type BulkCancelBody = z.output<typeof BulkCancelBody>;

/** Body of `POST /v1/calls:replay`, for matching calls that have ended. */
export const BulkReplayBody = z.strictObject(bulkFields).meta({
  id: 'BulkReplay',
  description: 'Which calls to run again; of those that fit, the ones that have ended.',
  examples: BULK_REPLAY_EXAMPLES,
});
export type BulkReplayBody = z.output<typeof BulkReplayBody>;

export const BulkResult = z
  .object({
    matched: z.number().int().describe('The number of calls that match the filter.'),
    exact: z.boolean().describe('`false`: at least `matched` calls match.'),
    done: z.number().int().describe('Calls that this request cancelled, replayed or erased.'),
    failed: z
      .array(z.object({ callId: z.string().describe('The call.'), problem: Problem.describe('Why not.') }))
      .describe('Calls that could not be cancelled, replayed or erased.'),
    cursor: z.string().optional().describe('There are more: send the same request with it. Absent when all are done.'),
  })
  .meta({ id: 'BulkResult', description: 'What came of a bulk request.' });
export type BulkResult = z.output<typeof BulkResult>;
