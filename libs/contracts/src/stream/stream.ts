import { z } from 'zod';
import { Call } from '../calls/call.js';
import { CallId, Traceparent } from '../values/names.js';
import { CancelBody, DecisionBody, InputBody, IdempotencyKey, SubmitCallBody } from '../api/calls.api.js';
import { LogEvent } from '../events/envelope.js';
import { EventFilter, Gap } from '../events/event-filter.js';
import { Problem } from '../errors/problem.js';

const FrameId = z.union([z.string().min(1).max(128), z.number().int()]);

/** True if simultaneous events may share one `events` frame, which costs both sides far less; otherwise one frame per event. */
const Batch = z.boolean().default(false);

/** Frames that a client sends on `GET /v1/stream`. */
export const ClientFrame = z
  .discriminatedUnion('op', [
    z
      .strictObject({
        op: z.literal('auth'),
        id: FrameId.optional().describe('Chosen by the client: the answer carries it. May be left out.'),
        token: z
          .string()
          .max(8192)
          .optional()
          .describe('The API key, at most 8,192 characters. Absent: the login whose cookie the upgrade carried.'),
      })
      .describe('The API key, when the upgrade carried none: the first frame. Later a newer key of the same tenant. Answered by `ready`.'),
    z
      .strictObject({
        op: z.literal('subscribe'),
        id: FrameId.describe('Chosen by the client: names the subscription. Everything of it carries this id.'),
        filter: EventFilter.default({}).describe('Which events. Not said: all events of the calls of the tenant.'),
        cursor: z
          .string()
          .max(4096)
          .optional()
          .describe('The last `cursor` of an earlier subscription: events after it follow. Not said: from now on.'),
        batch: Batch.describe('Events that come together may come in one frame `events`, which costs both sides far less.'),
      })
      .describe(
        'Asks for events, under an id of the client. With the `cursor` of an earlier frame it goes on after it. Needs the scope `read`. Answered by `subscribed`, then `event` or `events`.',
      ),
    z
      .strictObject({ op: z.literal('unsubscribe'), id: FrameId.describe('The id of the subscription.') })
      .describe('Ends the subscription of this id. Answered by `unsubscribed`.'),
    z
      .strictObject({
        op: z.literal('submit'),
        id: FrameId.describe('Chosen by the client: the answer and all events of the call carry this id.'),
        call: SubmitCallBody.describe('The call, as the body of `POST /v1/calls`.'),
        idempotencyKey: IdempotencyKey.optional().describe(
          'The same call with the same key within 24 hours runs once. Not said: each frame is a new call.',
        ),
        traceparent: Traceparent.optional().describe('The trace that the call belongs to (W3C Trace Context). Not said: none.'),
        batch: Batch.describe('Events that come together may come in one frame `events`, which costs both sides far less.'),
      })
      .describe(
        'Submits a call. Needs the scope `submit`. Answered by `accepted`, then by the events of the call under the same id until its End.',
      ),
    z
      .strictObject({
        op: z.literal('cancel'),
        id: FrameId.describe('Chosen by the client: the answer carries it.'),
        callId: CallId.describe('The call to cancel.'),
        reason: CancelBody.shape.reason,
        graceMs: CancelBody.shape.graceMs,
      })
      .describe('Cancels a call; safe to repeat. Needs the scope `cancel`. Answered by `ok`.'),
    z
      .strictObject({
        op: z.literal('decide'),
        id: FrameId.describe('Chosen by the client: the answer carries it.'),
        callId: CallId.describe('The call that waits for a person.'),
        ...DecisionBody.shape,
      })
      .describe('Allows or denies a call that waits for a person. Needs the scope `approve`. Answered by `ok`.'),
    z
      .strictObject({
        op: z.literal('input'),
        id: FrameId.describe('Chosen by the client: the answer carries it.'),
        callId: CallId.describe('The call whose tool has asked for a value.'),
        ...InputBody.shape,
      })
      .describe(
        'Gives a call the value that its tool asked for. Needs the scope `approve`, or `submit` and that this key made the call. Answered by `ok`.',
      ),
    z
      .strictObject({
        op: z.literal('ping'),
        id: FrameId.optional().describe('Chosen by the client: the answer carries it. May be left out.'),
      })
      .describe('Answered by `pong`.'),
  ])
  .meta({ id: 'ClientFrame', description: 'A frame that a client sends.' });
export type ClientFrame = z.output<typeof ClientFrame>;

/** Frames that the server sends. `cursor`: value for the next subscribe to miss nothing. */
export const ServerFrame = z
  .discriminatedUnion('op', [
    z
      .object({
        op: z.literal('ready'),
        tenantId: z.string().describe('The owner of the key.'),
        agentId: z.string().optional().describe('The agent of calls that name none. Absent without one.'),
      })
      .describe('The key is good; other frames are taken from here on.'),
    z
      .object({
        op: z.literal('subscribed'),
        id: FrameId.describe('The id of the subscription.'),
        cursor: z.string().describe('The place from which events follow.'),
      })
      .describe('Answers `subscribe`: events after `cursor` follow.'),
    z
      .object({ op: z.literal('unsubscribed'), id: FrameId.describe('The id of the subscription.') })
      .describe('Answers `unsubscribe`: nothing follows under this id.'),
    z
      .object({
        op: z.literal('event'),
        id: FrameId.describe('The id of the subscription or of the frame that submitted the call.'),
        event: LogEvent.describe('The event.'),
        cursor: z.string().describe('The place after it, to go on from after a lost connection.'),
      })
      .describe('One event. `cursor` is the place after it.'),
    z
      .object({
        op: z.literal('events'),
        id: FrameId.describe('The id of the subscription or of the frame that submitted the call.'),
        events: z.array(LogEvent).describe('The events, in order.'),
        cursor: z.string().describe('The place after the last, to go on from after a lost connection.'),
      })
      .describe('Events that came together, for a subscription or submission with `batch: true`. `cursor` is the place after the last.'),
    z
      .object({
        op: z.literal('gap'),
        id: FrameId.describe('The id of the subscription or of the frame that submitted the call.'),
        ...Gap.shape,
      })
      .describe('Updates and progress that this slow socket was spared; they can be read with `GET /v1/calls/{id}/events`.'),
    z
      .object({
        op: z.literal('resync'),
        id: FrameId.describe('The id of the subscription or of the frame that submitted the call.'),
        reason: z.string().describe('Why events after the cursor cannot be had.'),
        snapshot: z.array(Call).describe('The calls as they are now, instead of the events.'),
        cursor: z.string().describe('The place from which events follow.'),
      })
      .describe('Events after the cursor cannot be had: the calls as they are now instead. Events after the new `cursor` follow.'),
    z
      .object({
        op: z.literal('accepted'),
        id: FrameId.describe('The id of the frame that submitted the call; its events carry it, too.'),
        call: Call.describe('The call as it was stored.'),
      })
      .describe('Answers `submit`: the call is durable.'),
    z
      .object({
        op: z.literal('ok'),
        id: FrameId.describe('The id of the frame that is answered.'),
        call: Call.describe('The call as it is now.'),
      })
      .describe('Answers `cancel`, `decide` and `input`: the call as it is now.'),
    z
      .object({
        op: z.literal('error'),
        id: FrameId.optional().describe('The id of the frame that was refused. Absent where it had none that could be read.'),
        problem: Problem.describe('Why it was refused.'),
      })
      .describe(
        'The frame with this id was refused, or, without an id, one that could not be read. The socket stays open unless a close code follows.',
      ),
    z
      .object({
        op: z.literal('reconnect'),
        afterMs: z.number().int().describe('Milliseconds to wait before the next connection.'),
        reason: z.string().describe('Why the gateway goes away.'),
      })
      .describe('This gateway goes away: connect again after `afterMs`, and subscribe from the last cursors.'),
    z
      .object({ op: z.literal('pong'), id: FrameId.optional().describe('The id of the frame `ping`. Absent if it had none.') })
      .describe('Answers `ping`.'),
  ])
  .meta({ id: 'ServerFrame', description: 'A frame that the server sends.' });
export type ServerFrame = z.output<typeof ServerFrame>;

/** Close codes of the server (RFC 6455 private range). */
export const CLOSE_CODES = {
  unauthenticated: 4001,
  tooManyFrames: 4002,
  protocol: 4003,
  tooManySockets: 4004,
  slowConsumer: 4008,
  goingAway: 1001,
} as const;
