import { z } from 'zod';
import { CallId } from '../values/names.js';
import { QueryNumber } from './call-list.api.js';
import { ReprDigest } from './route-parts.api.js';
import { BODY, KEY, type Route } from './route.api.js';
import {
  WORKER_LIMITS,
  WORKER_SUBPROTOCOL,
  WorkerCredit,
  WorkerFrame,
  WorkerHello,
  WorkerName,
  WorkerOutput,
  WorkerServerFrame,
  WorkerWelcome,
} from '../workers/worker-frames.js';

const CallIdParams = z.object({ id: CallId.describe('The id of the call.') });
const WorkerParams = z.object({ id: z.string().min(1).max(128).describe('`workerId` of the answer to hello.') });

export const WorkerPollBody = z
  .strictObject({
    credit: z
      .array(WorkerCredit.omit({ op: true }))
      .max(16)
      .default([])
      .describe('More credit, by pool.'),
    after: z.number().int().min(0).default(0).describe('`seq` of the last answer that arrived; later frames are sent again.'),
  })
  .meta({ id: 'WorkerPollBody', description: 'Credit, and which frames arrived.' });
export type WorkerPollBody = z.output<typeof WorkerPollBody>;

export const WorkerPollPage = z
  .object({
    frames: z.array(WorkerServerFrame).describe('Frames for the worker, in order.'),
    seq: z.number().int().describe('Of the last frame; for `after` of the next poll.'),
  })
  .meta({ id: 'WorkerPollPage', description: 'Frames for a worker.' });
export type WorkerPollPage = z.output<typeof WorkerPollPage>;

/** Routes of workers in any language: `toolyard-worker/1` over a WebSocket, and its long-poll variant. */
export const WORKER_ROUTES = {
  connectWorker: {
    method: 'get',
    path: '/v1/worker',
    tag: 'workers',
    scope: 'work',
    summary: 'Connect a worker by WebSocket',
    description: `Subprotocol \`${WORKER_SUBPROTOCOL}\`. The first frame is \`hello\`; \`/asyncapi.json\` has all frames.`,
    responses: { 101: { description: 'The WebSocket is open.', headers: ['Upgrade'] } },
    problems: [...KEY, 'upgrade_required', 'overloaded'],
  },
  registerWorker: {
    method: 'post',
    path: '/v1/workers',
    tag: 'workers',
    scope: 'work',
    summary: 'Connect a worker by long poll: `hello`',
    description:
      'Polls and messages of the worker may go to any gateway. 404 says that no gateway knows the worker any more, for example because its gateway is gone: then it registers again and goes on with its calls.',
    body: WorkerHello,
    responses: { 201: { description: 'The worker is connected.', headers: ['Location'], schema: WorkerWelcome } },
    problems: [...BODY, ...KEY, 'conflict', 'overloaded'],
  },
  pollWorker: {
    method: 'post',
    path: '/v1/workers/{id}/poll',
    idempotent: true,
    tag: 'workers',
    scope: 'work',
    summary: 'Give credit and wait for frames of the gateway',
    description: 'Repeating a poll with the same `after` gives the same frames again. Its credit counts again.',
    params: WorkerParams,
    query: z.object({ wait: QueryNumber.min(0).max(WORKER_LIMITS.waitSeconds).optional().describe('Seconds to wait for a frame.') }),
    body: WorkerPollBody,
    bodyOptional: true,
    responses: { 200: { description: 'Frames, none when the time is over.', schema: WorkerPollPage } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'overloaded'],
  },
  sendWorkerMessages: {
    method: 'post',
    path: '/v1/workers/{id}/messages',
    idempotent: true,
    tag: 'workers',
    scope: 'work',
    summary: 'Send frames of the worker; answers come with the next poll',
    params: WorkerParams,
    body: z.strictObject({ frames: z.array(WorkerFrame).min(1).max(WORKER_LIMITS.frames).describe('Frames of the worker, in order.') }),
    responses: { 202: { description: 'Taken, in order.' } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'overloaded'],
  },
  putCallOutput: {
    method: 'put',
    path: '/v1/calls/{id}/output',
    tag: 'workers',
    scope: 'work',
    summary: 'Send an output that is too large for a frame',
    description: `At most ${WORKER_LIMITS.outputBytes.toLocaleString('en-US')} bytes of UTF-8, of a call that the worker runs, at any gateway. It replaces what was sent before for the same attempt. It counts when \`finish\` names what the answer says; 409 says that the attempt is over or has a newer fence: the worker stops the call.`,
    params: CallIdParams,
    query: z.object({
      worker: WorkerName.describe('The name of the worker, as in `hello`.'),
      fence: QueryNumber.min(1).describe('As in the `call`.'),
    }),
    headers: z.object({ 'Repr-Digest': ReprDigest }),
    body: z.string().describe('The text.'),
    bodyMediaType: 'text/plain',
    responses: { 200: { description: 'Stored until the call ends, an hour at most.', schema: WorkerOutput } },
    problems: [
      'invalid_request',
      'payload_too_large',
      'unsupported_media_type',
      ...KEY,
      'resource_not_found',
      'conflict',
      'quota_exceeded',
      'overloaded',
    ],
  },
} as const satisfies Record<string, Route>;
