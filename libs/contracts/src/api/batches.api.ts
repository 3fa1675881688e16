import { z } from 'zod';
import { CallError, CallOutcome, CallStatus } from '../calls/call.js';
import { CallId, Label } from '../calls/names.js';
import { Result } from '../calls/result.js';
import { SubmitCallBody } from './calls.api.js';

/** Platform maxima of batches and steering. */
export const BATCH_LIMITS = { calls: 1_000, steeringMessageChars: 16_384, steeringMessages: 100 } as const;

/** A batch lives in a partition, as calls do, and its id has the same form. */
export const BatchId = CallId;

/**
 * In which order the calls of a batch run. The agent's operator chooses it, never the model.
 * - `tiered`: read-only calls that follow each other run together, any other call alone, in order;
 * - `parallel`: all at once; with `serializeSideEffects` those that are not read-only one after another;
 * - `sequential`: one after another;
 * - `batched`: `size` at once, then the next `size`.
 */
export const BatchStrategy = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('tiered') }),
    z.strictObject({ type: z.literal('parallel'), serializeSideEffects: z.boolean().default(false) }),
    z.strictObject({ type: z.literal('sequential') }),
    z.strictObject({ type: z.literal('batched'), size: z.number().int().min(1).max(BATCH_LIMITS.calls) }),
  ])
  .meta({ id: 'BatchStrategy' });
export type BatchStrategy = z.output<typeof BatchStrategy>;

/** `isolate`: a refused call costs its siblings nothing. `abort`: nothing runs unless every call may run and every question was answered with yes. */
export const OnFailure = z.enum(['isolate', 'abort']).meta({ id: 'OnFailure' });
export type OnFailure = z.output<typeof OnFailure>;

/** A call within a batch: as for `POST /v1/calls`; session and agent are those of the batch. */
export const BatchCallBody = SubmitCallBody.omit({ sessionId: true, agentId: true }).meta({ id: 'BatchCall' });
export type BatchCallBody = z.output<typeof BatchCallBody>;

/** `POST /v1/batches`: the calls of one turn of a model, in the order the model made them. */
export const SubmitBatchBody = z
  .strictObject({
    /** Not said: that of the session, else that of the agent's policy, which is `tiered` with `isolate` unless its profile or the config file says otherwise. */
    strategy: BatchStrategy.optional(),
    onFailure: OnFailure.optional(),
    sessionId: Label.optional(),
    agentId: SubmitCallBody.shape.agentId,
    calls: z.array(BatchCallBody).min(1).max(BATCH_LIMITS.calls),
  })
  .meta({ id: 'SubmitBatch' });
export type SubmitBatchBody = z.output<typeof SubmitBatchBody>;

/** What a person said while calls ran. It comes with the result of one batch, once. */
export const SteeringMessage = z
  .object({ id: z.string(), message: z.string(), from: z.string(), at: z.string() })
  .meta({ id: 'SteeringMessage' });
export type SteeringMessage = z.output<typeof SteeringMessage>;

/** Why the rest of a batch did not run. `forbidden`: the key that submitted it was removed, expired or may not submit these calls any more. */
export const BatchStop = z
  .object({ reason: z.enum(['steered', 'aborted', 'cancelled', 'forbidden']), detail: z.string() })
  .meta({ id: 'BatchStop' });
export type BatchStop = z.output<typeof BatchStop>;

/** The place of a call in its batch, and what came of it. `pending`: not submitted yet. */
export const BatchResult = z
  .object({
    index: z.number().int(),
    tool: z.string(),
    toolCallId: z.string().optional(),
    callId: z.string().optional(),
    status: z.enum(['pending', ...CallStatus.options]),
    outcome: CallOutcome.optional(),
    result: Result.optional(),
    error: CallError.optional(),
  })
  .meta({ id: 'BatchResult' });
export type BatchResult = z.output<typeof BatchResult>;

/** `results` are in the order of the calls, whichever ended first. `steering` is what to put into the model's next turn, in order. */
export const Batch = z
  .object({
    id: z.string(),
    status: z.enum(['running', 'ended']),
    strategy: BatchStrategy,
    onFailure: OnFailure,
    tenantId: z.string(),
    sessionId: z.string().optional(),
    agentId: z.string().optional(),
    submittedAt: z.string(),
    endedAt: z.string().optional(),
    stopped: BatchStop.optional().describe('Why the rest of the batch did not run.'),
    results: z.array(BatchResult).describe('In the order of the calls, independent of their ends.'),
    steering: z.array(SteeringMessage).describe('Messages for the next turn of the model, in order.'),
  })
  .meta({ id: 'Batch' });
export type Batch = z.output<typeof Batch>;

/** `POST /v1/sessions/:id/steer`. */
export const SteerBody = z.strictObject({ message: z.string().min(1).max(BATCH_LIMITS.steeringMessageChars) }).meta({ id: 'SteerSession' });
export type SteerBody = z.output<typeof SteerBody>;

/** `waiting`: the number of undelivered messages, including this one. */
export const Steered = z.object({ message: SteeringMessage, waiting: z.number().int() }).meta({ id: 'Steered' });
export type Steered = z.output<typeof Steered>;

/** What `POST /v1/sessions/:id/cancel` stopped: calls that had not ended, and batches that had calls left. */
export const SessionCancelled = z
  .object({ sessionId: z.string(), calls: z.number().int(), batches: z.number().int() })
  .meta({ id: 'SessionCancelled' });
export type SessionCancelled = z.output<typeof SessionCancelled>;
