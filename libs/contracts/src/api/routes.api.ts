import { z } from 'zod';
import { Call, Decision, Risk } from '../calls/call.js';
import { CallId, Label } from '../values/names.js';
import { Violation } from '../errors/problem.js';
import { CallEventPage, CallStreamItem, ListEventsQuery, StreamEventsQuery, StreamItem } from './events.api.js';
import { ApprovalPage, ListApprovalsQuery, QueryNumber } from './call-list.api.js';
import { CancelBody, DecisionBody, InputBody, IdempotencyKey, ReplayBody, SubmitCallBody } from './calls.api.js';
import { ERASURE_ROUTES } from './erasure.api.js';
import { KEY_ROUTES } from './keys.api.js';
import { LIMITS } from '../values/limits.js';
import { EXPORT_ROUTES } from './export.api.js';
import { MCP_ROUTES } from './mcp.api.js';
import { OPERATION_ROUTES } from './operation-routes.api.js';
import { QUERY_ROUTES } from './query-routes.api.js';
import { SCHEDULE_ROUTES } from './schedules.api.js';
import { BODY, KEY, type Route, type RouteResponse, SUBMISSION } from './route.api.js';
import { Batch, BatchId, SessionCancelled, SteerBody, Steered, SubmitBatchBody } from './batches.api.js';
import { PutSessionBody, Session } from './sessions.api.js';
import { SOURCE_ROUTES } from './source-routes.api.js';
import { POLICY_TEST_ROUTES } from './policy-test.api.js';
import { USAGE_ROUTES } from './usage.api.js';
import { AUDIT_ROUTES } from './audit.api.js';
import { WEBHOOK_ROUTES } from './webhooks.api.js';
import { WORKER_ROUTES } from './worker-routes.api.js';
import { ListToolsQuery, ModelToolPage, ToolPage } from './status.api.js';
import { QUOTE_EXAMPLES } from '../values/examples.js';

/** The answer of a dry run: what a submission would meet, without doing it. */
export const Quote = z
  .object({
    tool: z.string().optional().describe('Canonical name of the tool. Absent for a tool that does not exist.'),
    valid: z.boolean().describe('Whether tool and arguments are accepted.'),
    errors: z.array(Violation).describe('What is wrong with them, one entry a fault.'),
    decision: Decision.optional().describe('What policy and limits say. Absent where the arguments are not valid.'),
    risk: Risk.optional().describe('What the call may do at most. Absent where the arguments are not valid.'),
    approvalNeeded: z.boolean().describe('A person would be asked.'),
    queueDepth: z.number().int().optional().describe(`Calls that wait in the tool's pool. Absent where the call would not reach it.`),
    expectedStartMs: z
      .number()
      .int()
      .optional()
      .describe(
        'Milliseconds until the call would start: 0 with a free slot, else as long as the calls that are served now have waited. An estimate. Absent if unknown: the call is refused, waits for approval, or no worker serves the pool.',
      ),
  })
  .meta({ id: 'Quote', description: 'What a submission would meet now.', examples: QUOTE_EXAMPLES });
export type Quote = z.output<typeof Quote>;

const CallIdParams = z.object({ id: CallId.describe('The id of the call.') });
const SessionIdParams = z.object({ id: Label.describe('The name of the session.') });
/** `?wait=<seconds>`. */
const WaitQuery = z.object({
  wait: QueryNumber.min(0)
    .max(LIMITS.waitSeconds)
    .optional()
    .describe('Wait for the end of the call at most so many seconds: 0 to 60. The answer is the call as it is then.'),
});

const SubmitHeaders = z.object({
  'Idempotency-Key': IdempotencyKey.optional().meta({
    description: 'The same request with the same key within 24 hours is the same call; another request with it is refused.',
  }),
  Prefer: z
    .string()
    .optional()
    .meta({
      description: `\`wait=<seconds>\` (RFC 7240): answer when the call has ended, at most that long; more than ${LIMITS.waitSeconds} counts as ${LIMITS.waitSeconds}. With \`, cancel-on-disconnect\` a call is cancelled when the client goes away during the wait, which needs the scope \`cancel\`; batches go on.`,
      examples: ['wait=10', 'wait=10, cancel-on-disconnect'],
    }),
  traceparent: z
    .string()
    .optional()
    .meta({
      description: 'W3C Trace Context, version 00: the trace that the call belongs to. A malformed one is ignored.',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    }),
});
const ResumeHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({ description: 'With `Accept: text/event-stream`: the `id` of the last message that was read. The stream goes on after it.' }),
});
const accepted = {
  description: 'Accepted and durable.',
  schema: Call,
  headers: ['Location', 'Preference-Applied'],
} as const satisfies RouteResponse;
const ended = {
  description: 'The call has ended.',
  schema: Call,
  headers: ['Location', 'Preference-Applied'],
} as const satisfies RouteResponse;
/** How server-sent events look, whatever they are about. */
const STREAM_TEXT =
  'Each message has an `id`, the cursor for `Last-Event-ID`, and as `event` the type of the event. `gap` says which updates a slow reader was spared, `resync` that events cannot be had and how the calls are instead.';

/** Every HTTP route, by its `operationId`. */
export const ROUTES = {
  submitCall: {
    method: 'post',
    path: '/v1/calls',
    idempotent: true,
    tag: 'calls',
    scope: 'submit',
    summary: 'Submit one call',
    headers: SubmitHeaders,
    body: SubmitCallBody,
    responses: { 200: ended, 202: accepted },
    problems: [...SUBMISSION, 'not_implemented'],
  },
  quoteCall: {
    method: 'post',
    path: '/v1/calls:quote',
    idempotent: true,
    tag: 'calls',
    scope: 'submit',
    summary: 'Dry run: what a submission would meet',
    body: SubmitCallBody,
    responses: {
      200: {
        description: 'Verdicts of every step; nothing was changed. A quote runs no hooks: what a hook would say is not part of it.',
        schema: Quote,
      },
    },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict', 'not_implemented'],
  },
  ...QUERY_ROUTES,
  ...EXPORT_ROUTES,
  getCall: {
    method: 'get',
    path: '/v1/calls/{id}',
    tag: 'calls',
    scope: 'read',
    summary: 'Read one call; `wait` polls for its end',
    params: CallIdParams,
    query: WaitQuery,
    responses: { 200: { description: 'The call as it is now.', schema: Call } },
    problems: [...KEY, 'resource_not_found'],
  },
  getCallEvents: {
    method: 'get',
    path: '/v1/calls/{id}/events',
    tag: 'events',
    scope: 'read',
    summary: 'The events of one call, as JSON or live',
    params: CallIdParams,
    query: ListEventsQuery,
    headers: ResumeHeaders,
    responses: {
      200: {
        description: `Events so far, oldest first, page by page; with \`Accept: text/event-stream\` live until End. ${STREAM_TEXT}`,
        schema: CallEventPage,
        events: CallStreamItem,
      },
      204: { description: 'The stream is over: the call has ended, and `Last-Event-ID` is its last event.' },
    },
    problems: [...KEY, 'resource_not_found', 'conflict', 'overloaded'],
  },
  getCallOutput: {
    method: 'get',
    path: '/v1/calls/{id}/output',
    tag: 'calls',
    scope: 'read',
    summary: 'The whole output of an ended call, by range if asked',
    params: CallIdParams,
    headers: z.object({
      Range: z
        .string()
        .optional()
        .meta({ description: 'One range of bytes (RFC 9110).', examples: ['bytes=0-1023'] }),
    }),
    responses: {
      200: { description: 'All of it.', mediaType: 'text/plain', schema: z.string(), headers: ['Accept-Ranges'] },
      206: {
        description: 'The range asked for.',
        mediaType: 'text/plain',
        schema: z.string(),
        headers: ['Accept-Ranges', 'Content-Range'],
      },
    },
    problems: [...KEY, 'resource_not_found', 'conflict', 'range_not_satisfiable'],
  },
  cancelCall: {
    method: 'post',
    path: '/v1/calls/{id}/cancel',
    idempotent: true,
    tag: 'calls',
    scope: 'cancel',
    summary: 'Cancel a call; safe to repeat',
    params: CallIdParams,
    body: CancelBody,
    bodyOptional: true,
    responses: { 202: { description: 'Cancelled, or on the way to it.', schema: Call } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict'],
  },
  decideApproval: {
    method: 'post',
    path: '/v1/calls/{id}/decision',
    tag: 'approvals',
    scope: 'approve',
    summary: 'Allow or deny a call that waits for a person',
    params: CallIdParams,
    body: DecisionBody,
    responses: {
      200: {
        description:
          'Decided. An allowed call is judged again by what holds now, and ends as denied when posture, policy or a denial of its session speaks against it. With `arguments` the call runs with these instead; when they are invalid or denied, the answer says why and the call goes on waiting. A grant to a session that was deleted after the call was submitted is answered 409; the same decision may be repeated for a day.',
        schema: Call,
      },
    },
    problems: [
      ...BODY,
      ...KEY,
      'resource_not_found',
      'conflict',
      'invalid_arguments',
      'policy_denied',
      'hook_rejected',
      'quota_exceeded',
      'unavailable',
      'overloaded',
      'not_implemented',
    ],
  },
  giveInput: {
    method: 'post',
    path: '/v1/calls/{id}/input',
    tag: 'approvals',
    scope: 'read',
    summary: 'Give a call the value that its tool has asked for, or decline to',
    params: CallIdParams,
    body: InputBody,
    responses: {
      200: {
        description:
          'The call as it is now: its tool runs again and gets the value. The first value counts; the same key may send the same value again. Needs the scope `approve`, or `submit` and that this key made the call.',
        schema: Call,
      },
    },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict', 'invalid_arguments', 'overloaded'],
  },
  replayCall: {
    method: 'post',
    path: '/v1/calls/{id}/replay',
    idempotent: true,
    tag: 'calls',
    scope: 'submit',
    summary: 'Run a call again, with the same or other arguments',
    params: CallIdParams,
    headers: SubmitHeaders,
    body: ReplayBody,
    bodyOptional: true,
    responses: { 200: ended, 202: accepted },
    problems: SUBMISSION,
  },
  submitBatch: {
    method: 'post',
    path: '/v1/batches',
    idempotent: true,
    tag: 'batches',
    scope: 'submit',
    summary: 'Submit the calls of one model turn',
    headers: SubmitHeaders,
    body: SubmitBatchBody,
    responses: {
      200: {
        description: 'Every call has ended; results in call order.',
        schema: Batch,
        headers: ['Location', 'Preference-Applied'],
      },
      202: { description: 'Accepted and durable.', schema: Batch, headers: ['Location', 'Preference-Applied'] },
    },
    problems: [...BODY, ...KEY, 'idempotency_key_reused', 'overloaded'],
  },
  getBatch: {
    method: 'get',
    path: '/v1/batches/{id}',
    tag: 'batches',
    scope: 'read',
    summary: 'Read one batch; `wait` polls for its end',
    params: z.object({ id: BatchId.describe('The id of the batch.') }),
    query: WaitQuery,
    responses: { 200: { description: 'The batch as it is now, results in call order.', schema: Batch } },
    problems: [...KEY, 'resource_not_found'],
  },
  listApprovals: {
    method: 'get',
    path: '/v1/approvals',
    tag: 'approvals',
    scope: 'read',
    summary: 'Calls that wait for a person',
    query: ListApprovalsQuery,
    responses: { 200: { description: 'A page of calls.', schema: ApprovalPage } },
    problems: [...KEY, 'invalid_request'],
  },
  listTools: {
    method: 'get',
    path: '/v1/tools',
    tag: 'tools',
    scope: 'read',
    summary: 'The tools this key may use, for a session or an agent, in the shape a model API wants',
    query: ListToolsQuery,
    responses: {
      200: {
        description:
          'By `format`: `full` as below; `mcp`, `anthropic`, `openai` (Chat Completions) and `openai-responses` as those APIs define their tool lists.',
        schema: z.union([ToolPage, ModelToolPage]),
      },
    },
    problems: [...KEY, 'invalid_request', 'not_implemented'],
  },
  getSession: {
    method: 'get',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    scope: 'read',
    summary: 'What holds for the calls of a session',
    params: SessionIdParams,
    responses: { 200: { description: 'The session; defaults where nothing was set.', schema: Session } },
    problems: [...KEY],
  },
  putSession: {
    method: 'put',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    scope: 'admin',
    summary: 'Set posture, tools or grants of a session',
    params: SessionIdParams,
    body: PutSessionBody,
    responses: { 200: { description: 'The session as it is now.', schema: Session } },
    problems: [...BODY, ...KEY, 'conflict'],
  },
  deleteSession: {
    method: 'delete',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    scope: 'admin',
    summary: 'End a session: its settings and grants are gone, and decisions about calls from before grant it nothing more',
    params: SessionIdParams,
    responses: { 204: { description: 'Gone, or never set up.' } },
    problems: [...KEY, 'conflict'],
  },
  steerSession: {
    method: 'post',
    path: '/v1/sessions/{id}/steer',
    tag: 'sessions',
    scope: 'submit',
    summary: 'Queue a message of a person; batches look between steps',
    params: SessionIdParams,
    body: SteerBody,
    responses: { 202: { description: 'Queued; it comes with the result of a batch, once.', schema: Steered } },
    problems: [...BODY, ...KEY, 'conflict', 'overloaded'],
  },
  cancelBatch: {
    method: 'post',
    path: '/v1/batches/{id}/cancel',
    idempotent: true,
    tag: 'calls',
    scope: 'cancel',
    summary: 'Stop a batch and its calls; safe to repeat',
    params: z.object({ id: BatchId.describe('The id of the batch.') }),
    body: CancelBody,
    bodyOptional: true,
    responses: { 202: { description: 'The batch, stopped or on the way to it; one that has ended is as it was.', schema: Batch } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict'],
  },
  cancelSession: {
    method: 'post',
    path: '/v1/sessions/{id}/cancel',
    idempotent: true,
    tag: 'sessions',
    scope: 'cancel',
    summary: 'Stop everything in a session; safe to repeat',
    params: SessionIdParams,
    body: CancelBody,
    bodyOptional: true,
    responses: { 202: { description: 'Stopped, or on the way to it.', schema: SessionCancelled } },
    problems: [...BODY, ...KEY, 'conflict'],
  },
  streamEvents: {
    method: 'get',
    path: '/v1/events',
    tag: 'events',
    scope: 'read',
    summary: 'Everything the key may see, live; what happens beside calls only where `types` names it',
    query: StreamEventsQuery,
    headers: ResumeHeaders,
    responses: { 200: { description: STREAM_TEXT, mediaType: 'text/event-stream', schema: StreamItem } },
    problems: [...KEY, 'resource_not_found', 'overloaded'],
  },
  ...SOURCE_ROUTES,
  ...MCP_ROUTES,
  ...SCHEDULE_ROUTES,
  ...KEY_ROUTES,
  ...AUDIT_ROUTES,
  ...USAGE_ROUTES,
  ...POLICY_TEST_ROUTES,
  ...WEBHOOK_ROUTES,
  ...WORKER_ROUTES,
  ...ERASURE_ROUTES,
  ...OPERATION_ROUTES,
} as const satisfies Record<string, Route>;
