import { z } from 'zod';
import { Approval } from './approval.js';
import { Json } from './json.js';
import { CALL_ERROR_CODES } from '../errors/error.catalog.js';
import { Result } from './result.js';
import { TrustOption } from '../policy/session-grants.js';

export const CallStatus = z.enum(['waiting_approval', 'queued', 'running', 'ended']).meta({ id: 'CallStatus' });
export type CallStatus = z.output<typeof CallStatus>;

/** `unknown`: a side effect may or may not have happened and the call will not be run again. */
export const CallOutcome = z.enum(['completed', 'failed', 'cancelled', 'timed_out', 'denied', 'unknown']).meta({ id: 'CallOutcome' });
export type CallOutcome = z.output<typeof CallOutcome>;

export const Priority = z.enum(['high', 'normal', 'low']).meta({ id: 'Priority' });
export type Priority = z.output<typeof Priority>;

export const CallError = z
  .object({
    code: z.enum(CALL_ERROR_CODES),
    message: z.string(),
    retryable: z.boolean(),
    errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'CallError' });
export type CallError = z.output<typeof CallError>;

/**
 * One evaluator's answer about a call. `axis` is one of the four of the policy, or `hooks`; `rule` names the rule or the hook that spoke.
 * `satisfiedBy` says which grant made an `ask` unnecessary; nothing does that for a `deny`.
 */
export const DecisionReason = z
  .object({
    axis: z.enum(['facts', 'risk', 'grants', 'limits', 'hooks']),
    rule: z.string(),
    effect: z.enum(['allow', 'ask', 'deny']),
    reason: z.string(),
    satisfiedBy: z.string().optional(),
  })
  .meta({ id: 'DecisionReason' });
export type DecisionReason = z.output<typeof DecisionReason>;

/** `trustOptions` are there when the effect is `ask`: what a person may trust beyond this call. */
export const Decision = z
  .object({ effect: z.enum(['allow', 'ask', 'deny']), reasons: z.array(DecisionReason), trustOptions: z.array(TrustOption).optional() })
  .meta({ id: 'Decision' });
export type Decision = z.output<typeof Decision>;

/** How long each stage of a call may take. `totalMs` bounds everything from submission to End. */
export const Timeouts = z
  .object({ queueMs: z.number().int(), runMs: z.number().int(), totalMs: z.number().int() })
  .meta({ id: 'Timeouts' });
export type Timeouts = z.output<typeof Timeouts>;

/** Why a call that is not running waits, with the numbers that explain it. */
export const Waiting = z
  .object({
    reason: z.enum(['queued', 'retry_backoff', 'suspended', 'approval', 'worker_drained']),
    detail: z.string(),
    until: z.string().optional(),
    /** Calls that wait in the same pool, this one among them. */
    queueDepth: z.number().int().optional(),
    /** 1: the next to be taken, as things are. */
    position: z.number().int().optional(),
    /** Calls that run in the pool. */
    running: z.number().int().optional(),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.output<typeof Waiting>;

/** What lists and watchers read of a result without opening it. All of it is absent before the End. */
export const Success = {
  /** Whether the call succeeded: it completed, and its result is no error. */
  ok: z.boolean().optional(),
  /** Whether the model reads the result as an error. A command that ends with `exit 1` is `completed` and has an error result. */
  isError: z.boolean().optional(),
  /** Why a completed call has an error result, in a few words such as `exit 1`. At most 80 characters. */
  note: z.string().optional(),
};

export const Call = z
  .object({
    id: z.string(),
    tool: z.string(),
    source: z.string(),
    status: CallStatus,
    outcome: CallOutcome.optional(),
    ...Success,
    arguments: Json,
    /**
     * The arguments here are not quite those of the tool, which gets them as they were submitted: secrets are marked and, where a
     * person was asked, hidden characters are written out (`\u{200B}`). A replay needs new ones.
     */
    argumentsRedacted: z.literal(true).optional(),
    result: Result.optional(),
    error: CallError.optional(),
    attempt: z.number().int(),
    priority: Priority,
    sessionId: z.string().optional(),
    agentId: z.string().optional(),
    tenantId: z.string(),
    batchId: z.string().optional(),
    parentCallId: z.string().optional(),
    rootCallId: z.string().optional(),
    replayOf: z.string().optional(),
    toolCallId: z.string().optional(),
    purpose: z.string().optional(),
    labels: z.record(z.string(), z.string()),
    timeouts: Timeouts,
    submittedAt: z.string(),
    startedAt: z.string().optional(),
    endedAt: z.string().optional(),
    waiting: Waiting.optional(),
    decision: Decision,
    /** There when a person was asked. */
    approval: Approval.optional(),
  })
  .meta({ id: 'Call' });
export type Call = z.output<typeof Call>;

/** The fields of `Success` for a call that ended so. `isError` is absent in Ends of older versions. */
export function successOf(end: Pick<Call, 'isError' | 'note'> & { readonly outcome: CallOutcome }, resultIsError?: boolean) {
  const { outcome, note } = end;
  const isError = end.isError ?? resultIsError ?? outcome !== 'completed';
  return { ok: outcome === 'completed' && !isError, isError, ...(note === undefined ? {} : { note }) };
}
