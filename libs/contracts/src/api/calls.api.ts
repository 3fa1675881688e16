import { z } from 'zod';
import { ApprovalScope } from '../calls/approval.js';
import { Json } from '../calls/json.js';
import { Priority } from '../calls/call.js';
import { CallId, Label } from '../calls/names.js';
import { RetryPolicy } from '../tools/tool.js';

/** Platform maxima; a request that asks for more is refused, not cut. */
export const LIMITS = {
  bodyBytes: 1_048_576,
  jsonDepth: 64,
  labels: 32,
  labelBytes: 256,
  waitSeconds: 60,
  pageSize: 200,
  /** Of events in one answer. */
  eventsPage: 1_000,
  queueMs: 24 * 3_600_000,
  runMs: 600_000,
  totalMs: 7 * 24 * 3_600_000,
  cancelGraceMs: 60_000,
  /** Of a WebSocket frame: of one that submits a call, as of a body over HTTP, and of any other. */
  submitFrameBytes: 1_048_576,
  frameBytes: 65_536,
  filtersPerSocket: 100,
  modelOutputBytes: 16_384,
} as const;

/** `POST /v1/calls`. `arguments` is an object, or the same as a JSON string (as models stream it). */
export const SubmitCallBody = z
  .strictObject({
    tool: z.string().min(1).max(256),
    arguments: z.union([z.record(z.string(), Json), z.string()]).default({}),
    sessionId: Label.optional(),
    agentId: Label.optional().describe(
      'The agent that makes the call: its policy, posture, hooks and limits hold. Not said: that of the key, if it has one. A name that the key may not act for is refused with 403 `forbidden`.',
    ),
    toolCallId: z.string().min(1).max(256).optional(),
    parentCallId: CallId.optional().describe(
      'The running call that makes this one, as a sub-agent does. Session and agent are those of the parent, so the key must be one that may act for that agent; no child has more time than its parent has left, and a cancel of the parent reaches it.',
    ),
    dialect: z.string().max(64).optional(),
    priority: Priority.default('normal'),
    timeouts: z
      .strictObject({
        queueMs: z.number().int().min(1).max(LIMITS.queueMs).optional(),
        runMs: z.number().int().min(1).max(LIMITS.runMs).optional(),
        totalMs: z.number().int().min(1).max(LIMITS.totalMs).optional(),
      })
      .default({}),
    retry: RetryPolicy.partial().strict().optional(),
    labels: z
      .record(z.string().min(1).max(64), z.string().max(LIMITS.labelBytes))
      .refine((labels) => Object.keys(labels).length <= LIMITS.labels, `expected at most ${LIMITS.labels} labels`)
      .meta({ maxProperties: LIMITS.labels })
      .default({}),
  })
  .meta({ id: 'SubmitCall' });
export type SubmitCallBody = z.output<typeof SubmitCallBody>;

/** `Idempotency-Key` as a header or a frame field: 1 to 255 visible ASCII characters. */
export const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters');

export const CancelBody = z
  .strictObject({ reason: z.string().max(1024).optional(), graceMs: z.number().int().min(0).max(LIMITS.cancelGraceMs).default(5000) })
  .meta({ id: 'CancelCall' });
export type CancelBody = z.output<typeof CancelBody>;

export const DecisionBody = z
  .strictObject({
    decision: z.enum(['allow', 'deny']),
    scope: ApprovalScope.default('once'),
    /** With the scope `session-args`: the id of one of the question's trust options; the first without. */
    trustOption: z.string().min(1).max(64).optional(),
    reason: z.string().max(1024).optional(),
  })
  .meta({ id: 'DecideApproval' });
export type DecisionBody = z.output<typeof DecisionBody>;

/** `POST /v1/calls/:id/replay`: run again, with the same arguments unless new ones are given. */
export const ReplayBody = z.strictObject({ arguments: z.record(z.string(), Json).optional() }).meta({ id: 'ReplayCall' });
export type ReplayBody = z.output<typeof ReplayBody>;
