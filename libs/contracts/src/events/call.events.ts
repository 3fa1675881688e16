import { z } from 'zod';
import { TokenRights } from '../values/principal.js';
import { ApprovalOption, ApprovalScope, ArgumentChanges } from '../calls/approval.js';
import { Json } from '../values/json.js';
import { CallError, CallOutcome, Decision, Priority, Success, Timeouts } from '../calls/call.js';
import { Content, Result } from '../values/result.js';
import { HookEvent } from '../hooks/hook.js';
import { keysOf } from '../values/keys-of.js';
import { FileAccess } from '../policy/file-access.js';
import { PolicyProfile } from '../policy/profile.js';
import { Dialect, DialectHints } from '../values/dialect.js';
import { TrustOption } from '../policy/session-grants.js';
import { JsonSchema, Pool, RetryPolicy, ToolEffect, ToolTier } from '../tools/tool.js';

/**
 * A value that is too large to stand in an event lives once beside the log; the event says where and how to prove it.
 * `ref` is the name of the value among those of this call. `edited-arguments` are those that an approver gave.
 */
export const ClaimCheck = z.object({
  ref: z.enum(['arguments', 'edited-arguments', 'result', 'output']).describe('Which value of the call this is.'),
  sha256: z.string().describe('SHA-256 of the stored value, hexadecimal.'),
  bytes: z.number().int().describe('Its size in bytes.'),
  preview: z.string().describe('Its beginning.'),
});
export type ClaimCheck = z.output<typeof ClaimCheck>;

/** What a sub-agent may use up at most. */
export const AgentBudget = z.object({
  depth: z.number().int().describe('How many levels of sub-agents there may be, itself included.'),
  tokens: z.number().int().describe('Tokens of all models, read and written.'),
  modelMs: z.number().int().describe('Milliseconds of waiting for models.'),
  calls: z.number().int().describe('Calls.'),
});
export type AgentBudget = z.output<typeof AgentBudget>;

/** Everything about a call that is fixed when it is submitted. Exactly one of `arguments` and `argumentsRef` is there. */
export const SubmittedData = z
  .object({
    tool: z.string().describe('Canonical name of the tool; for one that does not exist, the name that was asked for.'),
    arguments: Json.optional().describe('The arguments without secrets. Absent when they are large: then there is `argumentsRef`.'),
    argumentsRef: ClaimCheck.optional().describe('Where large arguments are. Exactly one of `arguments` and `argumentsRef` is present.'),
    source: z.string().describe('Where the tool comes from, such as `builtin`.'),
    toolVersion: z.string().describe('Digest of name, schema and facts of the tool.'),
    argumentsDigest: z.string().describe('SHA-256 over tool, version and arguments, which an approval is bound to.'),
    tier: ToolTier.describe('What the tool may do at most.'),
    effect: ToolEffect.describe('What running the tool twice does.'),
    capabilityProfile: z.string().optional().describe('What the tool may touch, as it was judged. Absent when that is nothing.'),
    files: FileAccess.optional().describe(
      'Which files besides the workspace the worker opens, and which it never opens. Absent for the workspace alone.',
    ),
    egress: z
      .string()
      .optional()
      .describe('SHA-256 of the egress rules of the agent, as they are stored beside the log. Absent for a tool that takes no URL.'),
    pool: Pool.describe('The pool whose workers may run the call.'),
    queue: z
      .string()
      .optional()
      .describe('The queue of its jobs, where that is not the queue of the pool: its source has workers of its own.'),
    priority: Priority.describe('Which of the waiting calls of a pool run first.'),
    timeouts: Timeouts.describe('The time limits of the call.'),
    retry: RetryPolicy.describe('How often and when a failed attempt is repeated.'),
    decision: Decision.describe('What policy, limits and hooks said.'),
    labels: z.record(z.string(), z.string()).describe('Names and values of the submission.'),
    requestedTool: z
      .string()
      .optional()
      .describe('The name that the model used, where it is an alias. Absent where it is the canonical one.'),
    userId: z.string().optional().describe('The user for whom the call is made. Absent without one.'),
    toolCallId: z.string().optional().describe('The id that the model gave to its tool call. Absent if the submission named none.'),
    purpose: z.string().optional().describe('What the model wrote that the call is for. Absent if nothing.'),
    batchId: z.string().optional().describe('The batch that the call belongs to. Absent without one.'),
    parentCallId: z.string().optional().describe('The call that made this one. Absent without a parent.'),
    rootCallId: z.string().optional().describe('The call at the top of the tree. Absent without a parent.'),
    depth: z.number().int().optional().describe('How far the call is below the top of the tree. Absent without a parent.'),
    agentsAbove: z.number().int().optional().describe('How many of the calls above this one are sub-agents. Absent for none.'),
    agentBudget: AgentBudget.optional().describe('What the sub-agent above leaves to this one. Absent for all other calls.'),
    startedBy: z
      .string()
      .optional()
      .describe('The call that started this one as a background run, with the same arguments. Absent for all other calls.'),
    replayOf: z.string().optional().describe('The call that this one runs again. Absent for the first run.'),
    scheduleId: z.string().optional().describe('The schedule that submitted the call. Absent for all other calls.'),
    requesters: z
      .array(z.string())
      .optional()
      .describe(
        'Actors that submitted the calls that this one replays, back to the first: with four eyes none of them may allow it. Absent for the first run.',
      ),
    submitter: TokenRights.optional().describe(
      'What the token of the submitter allowed: an approval is judged by it, since tokens end soon. Absent for an API key.',
    ),
    idempotencyKey: z.string().optional().describe('The Idempotency-Key of the submission, without secrets. Absent if there was none.'),
    argumentsRedacted: z
      .literal(true)
      .optional()
      .describe(
        'The arguments held secrets, or hidden characters that a person was asked about: these are the ones to be shown. The worker gets those that were submitted, beside the log until End.',
      ),
    safety: z.string().optional().describe('Digest of the safety settings in force. Absent for the defaults.'),
    profile: PolicyProfile.optional().describe('The agent whose texts the model is answered in. Absent for those of Toolyard.'),
    dialect: Dialect.exclude(['core']).optional().describe('Whose tool name the model used, and whose result it gets. Absent for our own.'),
    dialectHints: DialectHints.optional().describe(
      'What the arguments of the dialect say about the wording of its result. Absent if nothing.',
    ),
    resultBytes: z.number().int().optional().describe('Text above this size is cut for the model. Absent for the default.'),
    hooks: z.string().optional().describe('SHA-256 of the hooks that the worker runs. Absent without any.'),
    hookFeedback: z
      .string()
      .optional()
      .describe('What hooks before the call said, for the model to read below the output. Absent if nothing.'),
    sessionEpoch: z
      .number()
      .int()
      .optional()
      .describe(
        'How often the session had been deleted when the call was submitted: grants go to that life of the session only. Absent = 0.',
      ),
  })
  .describe('The call was stored; everything about it that is fixed. From here on it survives a crash.');
export type SubmittedData = z.output<typeof SubmittedData>;

export const ApprovalRequestedData = z
  .object({
    reasons: z.array(z.string()).describe('Why a person is asked.'),
    digest: z.string().describe('SHA-256 over tool, version and arguments: the answer is bound to them.'),
    expiresInMs: z.number().int().describe('Milliseconds after which the call ends as denied.'),
    options: z.array(ApprovalOption).optional().describe('The answers that this call can be given. Absent in events of older versions.'),
    trustOptions: z
      .array(TrustOption)
      .optional()
      .describe('What can be trusted for the rest of the session. Absent in events of older versions.'),
  })
  .describe('A person is asked about the call.');
export type ApprovalRequestedData = z.output<typeof ApprovalRequestedData>;

export const EditedArguments = z
  .object({
    arguments: Json.optional().describe('The edited arguments without secrets. Absent when they are large: then there is `argumentsRef`.'),
    argumentsRef: ClaimCheck.optional().describe(
      'Where large edited arguments are. Exactly one of `arguments` and `argumentsRef` is present.',
    ),
    argumentsRedacted: z
      .literal(true)
      .optional()
      .describe('The edited arguments held secrets, which only the worker gets. Absent otherwise.'),
    files: FileAccess.optional().describe(
      'Which files besides the workspace the worker opens for the edited call, and which it never opens. Absent for the workspace alone.',
    ),
    egress: z
      .string()
      .optional()
      .describe('SHA-256 of the egress rules of the agent when it was edited. Absent where those of the submission hold.'),
    ...ArgumentChanges,
  })
  .describe('The arguments that an approver gave in place of the submitted ones; these run.');
export type EditedArguments = z.output<typeof EditedArguments>;

export const ApprovalDecidedData = z
  .object({
    decision: z.enum(['allow', 'deny']).describe('What the person answered.'),
    scope: ApprovalScope.describe('How far the answer goes.'),
    trustOption: z.string().optional().describe('The id of the trust option that was granted to the session. Absent where none was.'),
    digest: z.string().describe('The digest of the question that was answered.'),
    reason: z.string().optional().describe('What the person wrote. Absent if nothing.'),
    edited: EditedArguments.optional().describe('The arguments that the person gave instead. Absent where nothing was edited.'),
  })
  .describe('A person answered.');
export type ApprovalDecidedData = z.output<typeof ApprovalDecidedData>;

export const StartData = z
  .object({
    tool: z.string().describe('Canonical name of the tool.'),
    arguments: Json.optional().describe(
      'The arguments without secrets, copied from the submission so that a watcher needs no look-up. Absent when they are large.',
    ),
    worker: z.string().describe('The worker that runs this attempt.'),
  })
  .describe('A worker began an attempt.');
export type StartData = z.output<typeof StartData>;

export const UpdateData = z
  .object({
    update: z.number().int().describe('Number of the update, from 1 within the attempt.'),
    content: z.array(Content).describe('Partial content for watchers, never for the model.'),
    truncated: z.boolean().optional().describe('Output before this update was left out. Absent otherwise.'),
  })
  .describe('Partial output of a running attempt.');
export type UpdateData = z.output<typeof UpdateData>;

export const ProgressData = z
  .object({
    message: z.string().optional().describe('What the tool does now. Absent if it did not say.'),
    done: z.number().optional().describe('Units of work that are done. Absent if the tool does not count.'),
    total: z.number().optional().describe('Units of work altogether. Absent if the tool does not know.'),
  })
  .describe('How far a running attempt is.');
export type ProgressData = z.output<typeof ProgressData>;

/** Longest `reason` of a hook run, in characters. */
export const HOOK_REASON_CHARACTERS = 300;

/**
 * One step of a hook run: `started` and later `finished`, or only `cached` when a stored answer was used and nothing ran.
 * - `before` hooks run before the call exists: their events follow `call.submitted` and are written together with it.
 *   Where hooks run after a person's approval, they stand before `call.approval_decided`, or before the End of a refusal.
 * - Hooks in the worker write their events while they run, after `call.start` and before `call.end`.
 * - `after_end` hooks have no events, since End is the last event of a call.
 * - Update hooks have at most 1,000 events in an attempt.
 *
 * The count and digest in End do not cover these events.
 */
export const HookRunData = z
  .object({
    phase: z.enum(['started', 'finished', 'cached']).describe('The step of the run. `cached`: a stored answer was used, and nothing ran.'),
    hook: z.string().describe('The name of the hook.'),
    event: HookEvent.describe('When the hook runs.'),
    run: z.number().int().describe('Counts the runs of the attempt from 1; `started` and `finished` of a run have the same number.'),
    at: z.string().describe('RFC 3339, by the clock of the process that ran the hook. The `time` of the event is when it was written.'),
    verdict: z
      .enum(['allow', 'deny', 'stopped'])
      .optional()
      .describe(
        'What the hook said. `stopped`: the call was cancelled, or its caller disconnected, before the hook answered. Absent in `started`.',
      ),
    failed: z.literal(true).optional().describe('The hook gave no usable answer: its `onError` is the verdict. Absent otherwise.'),
    rewrote: z.literal(true).optional().describe('The hook changed the arguments. Absent otherwise.'),
    reason: z
      .string()
      .optional()
      .describe('Why, as the hook said it or as it failed; without secrets, at most 300 characters. Absent if it said nothing.'),
    tookMs: z.number().int().optional().describe('Duration in milliseconds. Absent in `started`.'),
  })
  .describe(
    'One step of a hook run. Hooks `after_end` have no events, since End is the last event of a call; update hooks have at most 1,000 in an attempt.',
  );
export type HookRunData = z.output<typeof HookRunData>;

/** Of one `call.turn` event: it is small, whatever a model answers. */
export const TURN_LIMITS = { textBytes: 2_000, toolCalls: 32, nameCharacters: 64 } as const;

/**
 * One turn of a sub-agent: a request to its model and the answer. It is written before the calls of the turn are
 * submitted, so that a run that goes on elsewhere repeats neither. The text is cut; Updates have all of it.
 */
export const TurnData = z
  .object({
    turn: z.number().int().describe('Number of the turn, from 1 within the call.'),
    model: z.string().describe('The model that answered.'),
    requestSha256: z.string().describe('SHA-256 of the request, hexadecimal.'),
    text: z.string().optional().describe('What the model wrote, without secrets, at most 2,000 bytes of it. Absent if nothing.'),
    toolCalls: z
      .array(
        z.object({
          toolCallId: z.string().describe('The id that the model gave to the tool call.'),
          tool: z.string().describe('The name that the model asked for.'),
        }),
      )
      .describe('The calls of the turn, at most 32. Their arguments are in the calls themselves.'),
    usage: z
      .object({
        inputTokens: z.number().int().describe('Tokens that the model read.'),
        outputTokens: z.number().int().describe('Tokens that it wrote.'),
      })
      .describe('What the provider counted.'),
    tookMs: z.number().int().describe('Milliseconds from the request to the end of the answer.'),
    steering: z.number().int().optional().describe('How many messages of people to the session came with the request. Absent for none.'),
  })
  .describe('A sub-agent got an answer of its model. Written once a turn, before its calls are submitted.');
export type TurnData = z.output<typeof TurnData>;

export const RetryReason = z.enum(['tool_failed', 'run_timeout', 'worker_lost', 'worker_drained', 'suspended']);
export type RetryReason = z.output<typeof RetryReason>;

/** What a suspended tool keeps for its next attempt: stored beside the log, for the worker alone. */
export const SuspensionState = z.object({
  ref: z.string().describe('Which value of the call this is.'),
  sha256: z.string().describe('SHA-256 of the stored value, hexadecimal.'),
  bytes: z.number().int().describe('Its size in bytes.'),
});
export type SuspensionState = z.output<typeof SuspensionState>;

export const RetryData = z
  .object({
    reason: RetryReason.describe('Why the attempt went back to the queue. `suspended` and `worker_drained` count as no failure.'),
    nextAttempt: z.number().int().describe('Number of the attempt that follows.'),
    delayMs: z.number().int().describe('Milliseconds until it may start.'),
    error: CallError.optional().describe('How the attempt failed. Absent where it did not fail.'),
    until: z
      .literal('children')
      .optional()
      .describe('A suspended call also comes back when a call that it made ends. Absent where it waits for the time alone.'),
    state: SuspensionState.optional().describe('Where a suspended tool left what its next attempt gets. Absent where it left nothing.'),
  })
  .describe('An attempt went back to the queue.');
export type RetryData = z.output<typeof RetryData>;

export const InputRequestedData = z
  .object({
    prompt: z.string().optional().describe('What the tool asks for, without secrets. Absent if it did not say.'),
    inputSchema: JsonSchema.optional().describe('The JSON schema of the value. Absent where any value will do.'),
    declinable: z.literal(true).optional().describe('The tool goes on when the question is declined. Absent where it needs a value.'),
    nextAttempt: z.number().int().describe('Number of the attempt that follows.'),
    expiresInMs: z
      .number()
      .int()
      .optional()
      .describe('Milliseconds after which the call ends without a value. Absent where the tool goes on without one.'),
    resumeInMs: z
      .number()
      .int()
      .optional()
      .describe('Milliseconds after which the tool goes on without a value. Absent where the call ends then.'),
    state: SuspensionState.optional().describe('Where the tool left what its next attempt gets. Absent where it left nothing.'),
  })
  .describe('The tool asked for a value, and holds no worker until it comes.');
export type InputRequestedData = z.output<typeof InputRequestedData>;

export const InputGivenData = z
  .object({
    request: z.number().int().describe('The attempt that asked.'),
    value: Json.optional().describe('The value without secrets. Absent when it is large, or the question was declined.'),
    declined: z.literal(true).optional().describe('The question was declined. Absent for a value.'),
    stored: SuspensionState.optional().describe(
      'Where the value is that the worker gets. Absent where it is `value` itself: it is small and holds no secrets.',
    ),
  })
  .describe('A person or a program gave the value that the tool asked for, or declined to.');
export type InputGivenData = z.output<typeof InputGivenData>;

export const CancelRequestedData = z
  .object({
    reason: z.string().optional().describe('What the caller wrote. Absent if nothing.'),
    graceMs: z.number().int().describe('Milliseconds that the tool has to stop by itself before it is killed.'),
  })
  .describe('The cancel of the running call was requested.');
export type CancelRequestedData = z.output<typeof CancelRequestedData>;

export const Stopped = z.object({
  how: z
    .enum(['stopped', 'killed', 'finished_first', 'not_started', 'unknown'])
    .describe(
      '`stopped`: the tool ended because it was asked to; `killed`: it had to be killed; `finished_first`: it had ended before; `not_started`: it never ran; `unknown`: its end was not seen, such as when its worker fell silent, or it ended with success after it was asked to stop.',
    ),
  tookMs: z.number().int().describe('Milliseconds from the request to the end of the tool.'),
});
export type Stopped = z.output<typeof Stopped>;

/** `isError` is that of the result, wherever it is. Ends of older versions have neither it nor `note`, and their `updates` cover the last attempt only. */
export const EndData = z
  .object({
    outcome: CallOutcome.describe('How the call ended.'),
    isError: Success.isError,
    note: Success.note,
    error: CallError.optional().describe('Why the call did not succeed. Absent for a completed call.'),
    result: Result.optional().describe(
      'What the model gets. Absent where the tool gave none, and when it is large: then there is `resultRef`.',
    ),
    resultRef: ClaimCheck.optional().describe('Where a large result is.'),
    output: ClaimCheck.optional().describe('Where the whole output is. Absent where it stands in the result.'),
    attempts: z.number().int().describe('Number of attempts; 0 if the call never ran.'),
    queueMs: z
      .number()
      .int()
      .optional()
      .describe(
        'Milliseconds from the submission to the first Start, or to the End of a call that never started. Absent for a refused call.',
      ),
    runMs: z.number().int().optional().describe('Milliseconds that the last attempt ran. Absent if none ran.'),
    stopped: Stopped.optional().describe('How a cancel or a time-out stopped the tool. Absent without one.'),
    updates: z
      .object({
        count: z.number().int().describe('Number of Updates.'),
        sha256: z
          .string()
          .describe(
            'SHA-256 over the JSON texts of their `content`, each followed by a line feed. Where an attempt before had Updates, the digest of a later one begins with the digest of those, as 64 hexadecimal digits and a line feed.',
          ),
      })
      .optional()
      .describe(
        'Lets a reader prove that it has every Update of all attempts. Absent where a release that did not count wrote a part of the call, and where an Update never came to the log.',
      ),
  })
  .describe('The call ended. The one End of a call is its last event.');
export type EndData = z.output<typeof EndData>;

export const CALL_EVENT_DATA = {
  'call.submitted': SubmittedData,
  'call.approval_requested': ApprovalRequestedData,
  'call.approval_decided': ApprovalDecidedData,
  'call.start': StartData,
  'call.update': UpdateData,
  'call.progress': ProgressData,
  'call.hook': HookRunData,
  'call.turn': TurnData,
  'call.retry': RetryData,
  'call.input_requested': InputRequestedData,
  'call.input_given': InputGivenData,
  'call.cancel_requested': CancelRequestedData,
  'call.end': EndData,
} as const;

export type CallEventType = keyof typeof CALL_EVENT_DATA;
export const CALL_EVENT_TYPES = keysOf(CALL_EVENT_DATA);
export const CallEventType = z.enum(CALL_EVENT_TYPES).meta({ id: 'CallEventType', description: 'What happened to a call.' });

/** False for events that change nothing of a call: a fold may leave them out. */
export function changesCall(type: CallEventType): boolean {
  return type !== 'call.update' && type !== 'call.progress' && type !== 'call.hook' && type !== 'call.turn';
}

export type CallEventData<T extends CallEventType> = z.output<(typeof CALL_EVENT_DATA)[T]>;
