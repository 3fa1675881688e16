import { z } from 'zod';
import { Approval } from './approval.js';
import { Dialect } from '../values/dialect.js';
import { Json } from '../values/json.js';
import { CALL_ERROR_CODES } from '../errors/error.catalog.js';
import { Result } from '../values/result.js';
import { TrustOption } from '../policy/session-grants.js';
import { JsonSchema } from '../tools/tool.js';
import { CALL_EXAMPLES } from '../values/examples.js';

export const CallStatus = z.enum(['waiting_approval', 'queued', 'running', 'waiting_input', 'ended']).meta({
  id: 'CallStatus',
  description:
    'Where a call is on its way. `waiting_approval`: a person is asked; `queued`: it waits for a worker or for another attempt; `waiting_input`: its tool has asked for a value and holds no worker.',
});
export type CallStatus = z.output<typeof CallStatus>;

export const CallOutcome = z.enum(['completed', 'failed', 'cancelled', 'timed_out', 'denied', 'unknown']).meta({
  id: 'CallOutcome',
  description: 'How a call ended. `unknown`: a side effect may or may not have happened, and the call is not run again.',
});
export type CallOutcome = z.output<typeof CallOutcome>;

export const Priority = z
  .enum(['high', 'normal', 'low'])
  .meta({ id: 'Priority', description: 'Which of the waiting calls of a pool run first.' });
export type Priority = z.output<typeof Priority>;

export const CallError = z
  .object({
    code: z.enum(CALL_ERROR_CODES).describe('The reason; it stays the same in all versions, so programs compare this.'),
    message: z.string().describe('What was expected, what was received and what to do, for a person or a model. Without secrets.'),
    retryable: z.boolean().describe('The same call may succeed later without a change.'),
    errors: z
      .array(
        z.object({
          pointer: z.string().describe('JSON Pointer (RFC 6901) into the arguments or the output.'),
          message: z.string().describe('What was expected and what was received.'),
        }),
      )
      .optional()
      .describe('What is wrong with the arguments or the output, one entry a fault. Absent for other reasons.'),
    missingCapability: z
      .enum(['sampling'])
      .optional()
      .describe('What the tool needs of the MCP client that makes the call, and this one did not declare. Absent for other reasons.'),
  })
  .meta({ id: 'CallError', description: 'Why a call did not succeed.' });
export type CallError = z.output<typeof CallError>;

export const DecisionReason = z
  .object({
    axis: z
      .enum(['facts', 'risk', 'grants', 'limits', 'hooks'])
      .describe('Which group of rules answered: facts of the session, risk of the arguments, grants, limits, or hooks.'),
    rule: z.string().describe('The name of the rule or of the hook.'),
    effect: z.enum(['allow', 'ask', 'deny']).describe('What it answered. Deny takes precedence over ask, ask over allow.'),
    reason: z.string().describe('Why, in one sentence.'),
    satisfiedBy: z
      .string()
      .optional()
      .describe('The grant that made an `ask` unnecessary. Absent without one; nothing satisfies a `deny`.'),
  })
  .meta({ id: 'DecisionReason', description: 'The answer of one rule about a call.' });
export type DecisionReason = z.output<typeof DecisionReason>;

export const Risk = z.enum(['low', 'medium', 'high']).meta({
  id: 'Risk',
  description:
    'What a call may do at most: `low` reads, `medium` changes something, `high` is not bounded by its tool. Of commands, the reading of the command itself.',
});
export type Risk = z.output<typeof Risk>;

export const Decision = z
  .object({
    effect: z.enum(['allow', 'ask', 'deny']).describe('What all rules together mean.'),
    reasons: z.array(DecisionReason).describe('The answer of each rule.'),
    risk: Risk.optional().describe(
      'What the call may do at most, as it was submitted. Absent where it was not evaluated, and of earlier releases.',
    ),
    trustOptions: z.array(TrustOption).optional().describe('What a person may trust beyond this call. Present when the effect is `ask`.'),
  })
  .meta({ id: 'Decision', description: 'Whether a call may run, and the answer of each rule.' });
export type Decision = z.output<typeof Decision>;

export const Timeouts = z
  .object({
    queueMs: z.number().int().describe('Longest wait for a worker in milliseconds, of each attempt.'),
    runMs: z.number().int().describe('Longest run of one attempt in milliseconds.'),
    totalMs: z.number().int().describe('Longest time from submission to End in milliseconds, with all waits and attempts.'),
  })
  .meta({ id: 'Timeouts', description: 'How long each stage of a call may take.' });
export type Timeouts = z.output<typeof Timeouts>;

export const InputRequest = z
  .object({
    attempt: z.number().int().describe('The attempt that asked. An answer may name it, so that it goes to no later question.'),
    prompt: z.string().optional().describe('What the tool asks for, without secrets. Absent if it did not say.'),
    inputSchema: JsonSchema.optional().describe('The JSON schema of the value. Absent where any value will do.'),
    sampling: Json.optional().describe(
      'What the model of the MCP client is asked: the parameters of `sampling/createMessage`, without secrets. Absent for questions to people.',
    ),
    declinable: z
      .literal(true)
      .optional()
      .describe('An answer may be `{"decline": true}`: the tool goes on without a value. Absent where it needs one.'),
    requestedAt: z.string().describe('When the tool asked: RFC 3339, UTC.'),
  })
  .meta({ id: 'InputRequest', description: 'The question of a tool that waits for a value.' });
export type InputRequest = z.output<typeof InputRequest>;

export const Waiting = z
  .object({
    reason: z.enum(['queued', 'retry_backoff', 'suspended', 'approval', 'input', 'worker_drained']).describe('What the call waits for.'),
    detail: z.string().describe('The same as a sentence for people.'),
    until: z.string().optional().describe('When the wait ends by itself: RFC 3339, UTC. Absent where that is unknown.'),
    input: InputRequest.optional().describe('What the tool asks for. Absent unless the reason is `input`.'),
    queueDepth: z
      .number()
      .int()
      .optional()
      .describe('Calls that wait in the same pool, this one among them. Absent unless it waits in the queue.'),
    position: z
      .number()
      .int()
      .optional()
      .describe('Place in the queue; 1 is the next to be taken, as things are. Absent unless it waits in the queue.'),
    running: z.number().int().optional().describe('Calls that run in the pool. Absent unless the call waits in the queue.'),
  })
  .meta({ id: 'Waiting', description: 'Why a call that is not running waits, with the numbers that explain it.' });
export type Waiting = z.output<typeof Waiting>;

/** Separator between the end state of a command and its last output line, in the note of its call. */
export const NOTE_SEPARATOR = ' · ';

/** Summary of a result for lists and watchers. Absent before the End. */
export const Success = {
  ok: z.boolean().optional().describe('Whether the call succeeded: it completed, and its result is no error. Absent before the End.'),
  isError: z
    .boolean()
    .optional()
    .describe(
      'Whether the model reads the result as an error. A command that ends with `exit 1` is `completed` and has an error result. Absent before the End.',
    ),
  note: z
    .string()
    .optional()
    .describe(
      'Why a completed call has an error result, in a line such as `exit 2 · missing semicolon`, `exit 1` for a command without output, or `404: no such pet`. At most 200 characters; absent where there is nothing to say.',
    ),
};

export const Call = z
  .object({
    id: z.string().describe('Made by the gateway: the partition and a ULID. It sorts by time of submission within a partition.'),
    tool: z.string().describe('Canonical name of the tool. For a tool that does not exist, the name that was asked for.'),
    requestedTool: z.string().optional().describe('The name that the model used. Absent where it is the canonical one.'),
    dialect: Dialect.optional().describe('Whose tool name the model used, and whose result it gets. Absent for `core`.'),
    source: z.string().describe('Where the tool comes from, such as `builtin`; `none` for a tool that does not exist.'),
    status: CallStatus.describe('Where the call is on its way.'),
    outcome: CallOutcome.optional().describe('How the call ended. Absent before the End.'),
    ...Success,
    arguments: Json.describe('What the tool is called with. Secrets are `[REDACTED]`.'),
    argumentsRedacted: z
      .literal(true)
      .optional()
      .describe(
        'The arguments here differ from those of the tool, which gets them as submitted: secrets are marked and, where a person was asked, hidden characters are written out (`\\u{200B}`). A replay needs new ones. Absent where they are the same.',
      ),
    result: Result.optional().describe('What the model gets. Absent before the End, and where the tool gave none.'),
    error: CallError.optional().describe('Why the call did not succeed. Absent before the End and for a completed call.'),
    attempt: z.number().int().describe('Number of the current or last attempt; 0 before the first.'),
    priority: Priority.describe('Which of the waiting calls of a pool run first.'),
    risk: Risk.optional().describe('What the call may do at most, as it was submitted. Absent where it was not evaluated.'),
    sessionId: z.string().optional().describe('The session that the call belongs to. Absent without one.'),
    agentId: z.string().optional().describe('The agent that made the call. Absent without one.'),
    userId: z.string().optional().describe('The user for whom the call is made. Absent without one.'),
    tenantId: z.string().describe('The owner of the call.'),
    erased: z
      .literal(true)
      .optional()
      .describe('Its content was erased: arguments, result, labels and texts are empty for that reason. Absent otherwise.'),
    batchId: z.string().optional().describe('The batch that the call belongs to. Absent without one.'),
    parentCallId: z.string().optional().describe('The call that made this one. Absent without a parent.'),
    rootCallId: z.string().optional().describe('The call at the top of the tree. Absent without a parent.'),
    replayOf: z.string().optional().describe('The call that this one runs again. Absent for the first run.'),
    scheduleId: z.string().optional().describe('The schedule that submitted the call. Absent for all other calls.'),
    toolCallId: z.string().optional().describe('The id that the model gave to its tool call. Absent if the submission named none.'),
    purpose: z.string().optional().describe('What the model wrote that the call is for. Absent if nothing.'),
    labels: z.record(z.string(), z.string()).describe('Names and values of the submission.'),
    timeouts: Timeouts.describe('The time limits that hold for this call.'),
    submittedAt: z.string().describe('When the call was stored: RFC 3339, UTC, by the clock of Redis.'),
    startedAt: z.string().optional().describe('When the first attempt started: RFC 3339, UTC. Absent before.'),
    endedAt: z.string().optional().describe('When the call ended: RFC 3339, UTC. Absent before the End.'),
    waiting: Waiting.optional().describe('Why the call does not run now. Absent while it runs and after the End.'),
    decision: Decision.describe('What policy, limits and hooks said about the call.'),
    approval: Approval.optional().describe('The question to a person and its answer. Absent where no person was asked.'),
  })
  .meta({ id: 'Call', description: 'One call as it is now.', examples: CALL_EXAMPLES });
export type Call = z.output<typeof Call>;

/** Fields of `Success` for an ended call. `isError` is absent in Ends of older versions. */
export function successOf(end: Pick<Call, 'isError' | 'note'> & { readonly outcome: CallOutcome }, resultIsError?: boolean) {
  const { outcome, note } = end;
  const isError = end.isError ?? resultIsError ?? outcome !== 'completed';
  return { ok: outcome === 'completed' && !isError, isError, ...(note === undefined ? {} : { note }) };
}
