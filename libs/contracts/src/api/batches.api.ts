import { z } from 'zod';
import { CallError, CallOutcome, CallStatus } from '../calls/call.js';
import { CallId, Label } from '../values/names.js';
import { BatchStrategy, OnFailure } from '../policy/batch-strategy.js';
import { BATCH_LIMITS } from '../values/limits.js';
import { Result } from '../values/result.js';
import { SubmitCallBody } from './calls.api.js';
import { SUBMIT_BATCH_EXAMPLES, BATCH_EXAMPLES, STEER_EXAMPLES } from '../values/examples.js';

/** Id of a batch. A batch lives in a partition, like a call, and its id has the same form. */
export const BatchId = CallId;

export const BatchCallBody = SubmitCallBody.omit({ sessionId: true, agentId: true, userId: true }).meta({
  id: 'BatchCall',
  description: 'A call of a batch; session, agent and user are those of the batch.',
});
export type BatchCallBody = z.output<typeof BatchCallBody>;

/** Body of `POST /v1/batches`: the calls of one model turn, in the model's order. */
export const SubmitBatchBody = z
  .strictObject({
    strategy: BatchStrategy.optional().describe(
      "In which order the calls run. Not said: that of the session, else that of the agent's policy, which is `tiered` unless its profile or the config file says otherwise.",
    ),
    onFailure: OnFailure.optional().describe(
      "What the failure of one call means for the others. Not said: that of the agent's policy, else `isolate`.",
    ),
    sessionId: Label.optional().describe('The session of all its calls. Without one each call has its own workspace.'),
    agentId: SubmitCallBody.shape.agentId,
    userId: SubmitCallBody.shape.userId,
    calls: z.array(BatchCallBody).min(1).max(BATCH_LIMITS.calls).describe('The calls in the order of the model: 1 to 1,000.'),
  })
  .meta({
    id: 'SubmitBatch',
    description: 'The calls of one turn of a model, in the order the model made them.',
    examples: SUBMIT_BATCH_EXAMPLES,
  });
export type SubmitBatchBody = z.output<typeof SubmitBatchBody>;

export const SteeringMessage = z
  .object({
    id: z.string().describe('Names the message.'),
    message: z.string().describe('What the person wrote, without secrets.'),
    from: z.string().describe('Who wrote it, such as `apikey:<keyId>`.'),
    fromName: z.string().optional().describe('The person, such as `Ada Example <ada@example.com>`. Absent unless a person has signed in.'),
    at: z.string().describe('When it was stored: RFC 3339, UTC.'),
  })
  .meta({ id: 'SteeringMessage', description: 'What a person said to a session. It comes with the result of one batch, once.' });
export type SteeringMessage = z.output<typeof SteeringMessage>;

export const BatchStop = z
  .object({
    reason: z
      .enum(['steered', 'aborted', 'cancelled', 'forbidden'])
      .describe('What stopped it. `forbidden`: the key that submitted it was removed, expired or may not submit these calls any more.'),
    detail: z.string().describe('The same as a sentence for people.'),
  })
  .meta({ id: 'BatchStop', description: 'Why the rest of a batch did not run.' });
export type BatchStop = z.output<typeof BatchStop>;

export const BatchResult = z
  .object({
    index: z.number().int().describe('Place of the call in the batch, from 0.'),
    tool: z.string().describe('The tool as the batch names it.'),
    toolCallId: z.string().optional().describe('The id that the model gave to its tool call. Absent if the batch names none.'),
    callId: z.string().optional().describe('The call. Absent while it is not submitted.'),
    status: z.enum(['pending', ...CallStatus.options]).describe('Where the call is on its way. `pending`: not submitted yet.'),
    outcome: CallOutcome.optional().describe('How the call ended. Absent before the End.'),
    result: Result.optional().describe('What the model gets. Absent before the End.'),
    error: CallError.optional().describe('Why the call did not succeed. Absent before the End and for a completed call.'),
  })
  .meta({ id: 'BatchResult', description: 'The place of a call in its batch, and what came of it.' });
export type BatchResult = z.output<typeof BatchResult>;

export const Batch = z
  .object({
    id: z.string().describe('Made by the gateway; it has the form of a call id.'),
    status: z.enum(['running', 'ended']).describe('`ended`: nothing of it runs any more, and nothing follows.'),
    strategy: BatchStrategy.describe('In which order the calls run.'),
    onFailure: OnFailure.describe('What the failure of one call means for the others.'),
    tenantId: z.string().describe('The owner of the batch.'),
    sessionId: z.string().optional().describe('The session of all its calls. Absent without one.'),
    agentId: z.string().optional().describe('The agent that made the calls. Absent without one.'),
    userId: z.string().optional().describe('The user that the batch or its key names. Absent without one.'),
    submittedAt: z.string().describe('When the batch was stored: RFC 3339, UTC.'),
    endedAt: z.string().optional().describe('When it ended. Absent before.'),
    stopped: BatchStop.optional().describe('Why the rest of the batch did not run. Absent where nothing was left out.'),
    results: z.array(BatchResult).describe('In the order of the calls, independent of their ends.'),
    steering: z.array(SteeringMessage).describe('Messages for the next turn of the model, in order.'),
  })
  .meta({ id: 'Batch', description: 'The calls of one turn of a model, and what came of them.', examples: BATCH_EXAMPLES });
export type Batch = z.output<typeof Batch>;

/** Body of `POST /v1/sessions/:id/steer`. */
export const SteerBody = z
  .strictObject({
    message: z
      .string()
      .min(1)
      .max(BATCH_LIMITS.steeringMessageChars)
      .describe('1 to 16,384 characters. It comes with the result of the next batch of the session, once.'),
  })
  .meta({ id: 'SteerSession', description: 'A message to the agent of a session.', examples: STEER_EXAMPLES });
export type SteerBody = z.output<typeof SteerBody>;

export const Steered = z
  .object({
    message: SteeringMessage.describe('The message as it is stored.'),
    waiting: z.number().int().describe('Messages that no batch has taken yet, this one among them; at most 100.'),
  })
  .meta({ id: 'Steered', description: 'The message as it is stored, and how many wait.' });
export type Steered = z.output<typeof Steered>;

export const SessionMessage = SteeringMessage.extend({
  taken: z.boolean().describe('Whether an agent has it: it came with the result of a batch, or a sub-agent read it.'),
}).meta({ id: 'SessionMessage', description: 'What a person said to a session, and whether its agent has it.' });
export type SessionMessage = z.output<typeof SessionMessage>;

/** Response of `GET /v1/sessions/:id/steering`. */
export const SessionMessages = z
  .object({ messages: z.array(SessionMessage).describe('The last 100 of 7 days, oldest first.') })
  .meta({ id: 'SessionMessages', description: 'What people said to a session.' });
export type SessionMessages = z.output<typeof SessionMessages>;

export const SessionCancelled = z
  .object({
    sessionId: z.string().describe('The session.'),
    calls: z
      .number()
      .int()
      .describe(
        'Calls of the session that had not ended and are cancelled now. Those of sessions that it began are cancelled, too, and not counted here.',
      ),
    batches: z.number().int().describe('Batches that had calls left and are stopped now.'),
  })
  .meta({ id: 'SessionCancelled', description: 'What the cancel of a session stopped.' });
export type SessionCancelled = z.output<typeof SessionCancelled>;
