import { z } from 'zod';
import { Call } from '../calls/call.js';
import { CallId, Label, Traceparent } from '../calls/names.js';
import { CancelBody, DecisionBody, IdempotencyKey, SubmitCallBody } from '../api/calls.api.js';
import { EventType, LogEvent } from '../events/envelope.js';
import { Problem } from '../errors/problem.js';

/**
 * Which events a subscriber wants: all that match every given field. An empty filter means the calls of the whole
 * tenant; what happens beside calls comes only where `types` names it.
 */
export const EventFilter = z
  .strictObject({
    callId: CallId.optional(),
    sessionId: Label.optional(),
    agentId: Label.optional(),
    tool: z.string().max(256).optional(),
    types: z.array(EventType).min(1).max(16).optional(),
  })
  .meta({ id: 'EventFilter' });
export type EventFilter = z.output<typeof EventFilter>;

const FrameId = z.union([z.string().min(1).max(128), z.number().int()]);

/** Whether events that come together may come in one `events` frame, which costs both sides far less; else each has its own. */
const Batch = z.boolean().default(false);

/** Frames a client sends on `GET /v1/stream`. */
export const ClientFrame = z
  .discriminatedUnion('op', [
    z
      .strictObject({ op: z.literal('auth'), id: FrameId.optional(), token: z.string().max(8192) })
      .describe('The API key, when the upgrade carried none: the first frame. Later a newer key of the same tenant. Answered by `ready`.'),
    z
      .strictObject({
        op: z.literal('subscribe'),
        id: FrameId,
        filter: EventFilter.default({}),
        cursor: z.string().max(4096).optional(),
        batch: Batch,
      })
      .describe(
        'Asks for events, under an id of the client. With the `cursor` of an earlier frame it goes on after it. Needs the scope `read`. Answered by `subscribed`, then `event` or `events`.',
      ),
    z.strictObject({ op: z.literal('unsubscribe'), id: FrameId }).describe('Ends the subscription of this id. Answered by `unsubscribed`.'),
    z
      .strictObject({
        op: z.literal('submit'),
        id: FrameId,
        call: SubmitCallBody,
        idempotencyKey: IdempotencyKey.optional(),
        traceparent: Traceparent.optional(),
        batch: Batch,
      })
      .describe(
        'Submits a call. Needs the scope `submit`. Answered by `accepted`, then by the events of the call under the same id until its End.',
      ),
    z
      .strictObject({
        op: z.literal('cancel'),
        id: FrameId,
        callId: CallId,
        reason: CancelBody.shape.reason,
        graceMs: CancelBody.shape.graceMs,
      })
      .describe('Cancels a call; safe to repeat. Needs the scope `cancel`. Answered by `ok`.'),
    z
      .strictObject({ op: z.literal('decide'), id: FrameId, callId: CallId, ...DecisionBody.shape })
      .describe('Allows or denies a call that waits for a person. Needs the scope `approve`. Answered by `ok`.'),
    z.strictObject({ op: z.literal('ping'), id: FrameId.optional() }).describe('Answered by `pong`.'),
  ])
  .meta({ id: 'ClientFrame' });
export type ClientFrame = z.output<typeof ClientFrame>;

/** Updates, Progress and hook runs that a slow socket did not get; lifecycle events are never in a gap. */
export const Gap = z
  .object({ callId: z.string(), fromSeq: z.number().int(), toSeq: z.number().int(), dropped: z.number().int() })
  .meta({ id: 'Gap' });
export type Gap = z.output<typeof Gap>;

/** Frames the server sends. `cursor` is what to give back on the next subscribe to miss nothing. */
export const ServerFrame = z
  .discriminatedUnion('op', [
    z
      .object({ op: z.literal('ready'), tenantId: z.string(), agentId: z.string().optional() })
      .describe('The key is good; other frames are taken from here on.'),
    z
      .object({ op: z.literal('subscribed'), id: FrameId, cursor: z.string() })
      .describe('Answers `subscribe`: events after `cursor` follow.'),
    z.object({ op: z.literal('unsubscribed'), id: FrameId }).describe('Answers `unsubscribe`: nothing follows under this id.'),
    z
      .object({ op: z.literal('event'), id: FrameId, event: LogEvent, cursor: z.string() })
      .describe('One event. `cursor` is the place after it.'),
    z
      .object({ op: z.literal('events'), id: FrameId, events: z.array(LogEvent), cursor: z.string() })
      .describe('Events that came together, for a subscription or submission with `batch: true`. `cursor` is the place after the last.'),
    z
      .object({ op: z.literal('gap'), id: FrameId, ...Gap.shape })
      .describe('Updates and progress that this slow socket was spared; they can be read with `GET /v1/calls/{id}/events`.'),
    z
      .object({ op: z.literal('resync'), id: FrameId, reason: z.string(), snapshot: z.array(Call), cursor: z.string() })
      .describe('Events after the cursor cannot be had: the calls as they are now instead. Events after the new `cursor` follow.'),
    z.object({ op: z.literal('accepted'), id: FrameId, call: Call }).describe('Answers `submit`: the call is durable.'),
    z.object({ op: z.literal('ok'), id: FrameId, call: Call }).describe('Answers `cancel` and `decide`: the call as it is now.'),
    z
      .object({ op: z.literal('error'), id: FrameId.optional(), problem: Problem })
      .describe(
        'The frame with this id was refused, or, without an id, one that could not be read. The socket stays open unless a close code follows.',
      ),
    z
      .object({ op: z.literal('reconnect'), afterMs: z.number().int(), reason: z.string() })
      .describe('This gateway goes away: connect again after `afterMs`, and subscribe from the last cursors.'),
    z.object({ op: z.literal('pong'), id: FrameId.optional() }).describe('Answers `ping`.'),
  ])
  .meta({ id: 'ServerFrame' });
export type ServerFrame = z.output<typeof ServerFrame>;

/** Why the server closed a socket (RFC 6455 private range). */
export const CLOSE_CODES = {
  unauthenticated: 4001,
  tooManyFrames: 4002,
  protocol: 4003,
  tooManySockets: 4004,
  slowConsumer: 4008,
  goingAway: 1001,
} as const;
