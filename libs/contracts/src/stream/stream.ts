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
    z.strictObject({ op: z.literal('auth'), id: FrameId.optional(), token: z.string().max(8192) }),
    z.strictObject({
      op: z.literal('subscribe'),
      id: FrameId,
      filter: EventFilter.default({}),
      cursor: z.string().max(4096).optional(),
      batch: Batch,
    }),
    z.strictObject({ op: z.literal('unsubscribe'), id: FrameId }),
    z.strictObject({
      op: z.literal('submit'),
      id: FrameId,
      call: SubmitCallBody,
      idempotencyKey: IdempotencyKey.optional(),
      traceparent: Traceparent.optional(),
      batch: Batch,
    }),
    z.strictObject({
      op: z.literal('cancel'),
      id: FrameId,
      callId: CallId,
      reason: CancelBody.shape.reason,
      graceMs: CancelBody.shape.graceMs,
    }),
    z.strictObject({ op: z.literal('decide'), id: FrameId, callId: CallId, ...DecisionBody.shape }),
    z.strictObject({ op: z.literal('ping'), id: FrameId.optional() }),
  ])
  .meta({ id: 'ClientFrame' });
export type ClientFrame = z.output<typeof ClientFrame>;

/** A run of Updates and Progress that a slow socket was spared; lifecycle events are never in a gap. */
export const Gap = z.object({ callId: z.string(), fromSeq: z.number().int(), toSeq: z.number().int(), dropped: z.number().int() });
export type Gap = z.output<typeof Gap>;

/** Frames the server sends. `cursor` is what to give back on the next subscribe to miss nothing. */
export const ServerFrame = z
  .discriminatedUnion('op', [
    z.object({ op: z.literal('ready'), tenantId: z.string(), agentId: z.string().optional() }),
    z.object({ op: z.literal('subscribed'), id: FrameId, cursor: z.string() }),
    z.object({ op: z.literal('unsubscribed'), id: FrameId }),
    z.object({ op: z.literal('event'), id: FrameId, event: LogEvent, cursor: z.string() }),
    z.object({ op: z.literal('events'), id: FrameId, events: z.array(LogEvent), cursor: z.string() }),
    z.object({ op: z.literal('gap'), id: FrameId, ...Gap.shape }),
    z.object({ op: z.literal('resync'), id: FrameId, reason: z.string(), snapshot: z.array(Call), cursor: z.string() }),
    z.object({ op: z.literal('accepted'), id: FrameId, call: Call }),
    z.object({ op: z.literal('ok'), id: FrameId, call: Call }),
    z.object({ op: z.literal('error'), id: FrameId.optional(), problem: Problem }),
    z.object({ op: z.literal('reconnect'), afterMs: z.number().int(), reason: z.string() }),
    z.object({ op: z.literal('pong'), id: FrameId.optional() }),
  ])
  .meta({ id: 'ServerFrame' });
export type ServerFrame = z.output<typeof ServerFrame>;

/** Why the server closed a socket (RFC 6455 private range). */
export const CLOSE_CODES = { unauthenticated: 4001, tooManyFrames: 4002, protocol: 4003, slowConsumer: 4008, goingAway: 1001 } as const;
