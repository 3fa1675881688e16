import { z } from 'zod';
import { Call } from '../calls/call.js';
import { CallDebugLog } from './debug.api.js';
import { CallEventPage, CallStreamItem, ListEventsQuery } from './events.api.js';
import { CancelBody, DecisionBody, InputBody, ReplayBody, SubmitCallBody } from './calls.api.js';
import { BODY, KEY, type Route, type RouteResponse, SUBMISSION } from './route.api.js';
import { Quote } from './quote.api.js';
import { CallIdParams, ResumeHeaders, STREAM_TEXT, SubmitHeaders, WaitQuery } from './route-parts.api.js';

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

/** Routes that create calls. */
export const SUBMIT_ROUTES = {
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
    problems: [...SUBMISSION, 'call_lost', 'not_implemented'],
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
} as const satisfies Record<string, Route>;

export const CALL_ROUTES = {
  getCall: {
    method: 'get',
    path: '/v1/calls/{id}',
    tag: 'calls',
    scope: 'read',
    summary: 'Read one call; `wait` polls for its end',
    params: CallIdParams,
    query: WaitQuery,
    responses: { 200: { description: 'The call as it is now.', schema: Call } },
    problems: [...KEY, 'resource_not_found', 'call_lost'],
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
  getCallDebugLog: {
    method: 'get',
    path: '/v1/calls/{id}/debug',
    tag: 'calls',
    scope: 'admin',
    summary: 'The debug log of one call: stages, rules, hooks, attempts',
    params: CallIdParams,
    responses: { 200: { description: 'The steps so far, oldest first.', schema: CallDebugLog } },
    problems: [...KEY, 'resource_not_found'],
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
          'Decided. An allowed call is evaluated again by what holds now, and ends as denied when posture, policy or a denial of its session speaks against it. With `arguments` the call runs with these instead; when they are invalid or denied, the answer says why and the call goes on waiting. A grant to a session that was deleted after the call was submitted is answered 409; the same decision may be repeated for a day.',
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
} as const satisfies Record<string, Route>;
