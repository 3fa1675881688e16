import { z } from 'zod';
import { ApprovalOption, ApprovalScope } from '../calls/approval.js';
import { Json } from '../calls/json.js';
import { CallError, CallOutcome, Decision, Priority, Success, Timeouts } from '../calls/call.js';
import { Content, Result } from '../calls/result.js';
import { HookEvent } from '../hooks/hook.js';
import { keysOf } from '../keys-of.js';
import { FileAccess } from '../policy/file-access.js';
import { PolicyProfile } from '../policy/profile.js';
import { TrustOption } from '../policy/session-grants.js';
import { Pool, RetryPolicy, ToolEffect, ToolTier } from '../tools/tool.js';

/**
 * A value that is too large to stand in an event lives once beside the log; the event says where and how to prove it.
 * `ref` is `arguments`, `result` or `output`: the name of the value among those of this call.
 */
export const ClaimCheck = z.object({
  ref: z.enum(['arguments', 'result', 'output']),
  sha256: z.string(),
  bytes: z.number().int(),
  preview: z.string(),
});
export type ClaimCheck = z.output<typeof ClaimCheck>;

/** Everything about a call that is fixed when it is submitted. Exactly one of `arguments` and `argumentsRef` is there. */
export const SubmittedData = z.object({
  tool: z.string(),
  arguments: Json.optional(),
  argumentsRef: ClaimCheck.optional(),
  source: z.string(),
  toolVersion: z.string(),
  argumentsDigest: z.string(),
  tier: ToolTier,
  effect: ToolEffect,
  /** What the tool may touch, as it was judged; absent when that is nothing. */
  capabilityProfile: z.string().optional(),
  /** Which files besides the workspace its worker opens, and which it never opens; absent for the workspace and nothing else. */
  files: FileAccess.optional(),
  pool: Pool,
  priority: Priority,
  timeouts: Timeouts,
  retry: RetryPolicy,
  decision: Decision,
  labels: z.record(z.string(), z.string()),
  requestedTool: z.string().optional(),
  toolCallId: z.string().optional(),
  purpose: z.string().optional(),
  batchId: z.string().optional(),
  parentCallId: z.string().optional(),
  /** The call at the top of the tree, and how far this one is below it; absent without a parent. */
  rootCallId: z.string().optional(),
  depth: z.number().int().optional(),
  replayOf: z.string().optional(),
  /** Actors that submitted the calls that this one replays, back to the first: with four eyes none of them may allow it. */
  requesters: z.array(z.string()).optional(),
  idempotencyKey: z.string().optional(),
  /** The arguments held secrets, or hidden characters that a person was asked about: these are the ones to be shown; the worker gets those that were submitted, beside the log until End. */
  argumentsRedacted: z.literal(true).optional(),
  /** Digest of the safety settings in force, when they are not the defaults. */
  safety: z.string().optional(),
  /** The agent whose texts it is answered in; absent for our own. */
  profile: PolicyProfile.optional(),
  /** Text above it is cut for the model. */
  resultBytes: z.number().int().optional(),
  /** SHA-256 of the hooks that its worker runs; there when it has any. */
  hooks: z.string().optional(),
  /** What hooks before the call said, for the model to read below the output. */
  hookFeedback: z.string().optional(),
  /** How often its session had been deleted when it was submitted: grants go to that life of the session only. Absent = 0. */
  sessionEpoch: z.number().int().optional(),
});
export type SubmittedData = z.output<typeof SubmittedData>;

export const ApprovalRequestedData = z.object({
  reasons: z.array(z.string()),
  digest: z.string(),
  expiresInMs: z.number().int(),
  options: z.array(ApprovalOption).optional(),
  trustOptions: z.array(TrustOption).optional(),
});
export type ApprovalRequestedData = z.output<typeof ApprovalRequestedData>;

export const ApprovalDecidedData = z.object({
  decision: z.enum(['allow', 'deny']),
  scope: ApprovalScope,
  /** Of the question's trust options: what was granted to the session. */
  trustOption: z.string().optional(),
  digest: z.string(),
  reason: z.string().optional(),
});
export type ApprovalDecidedData = z.output<typeof ApprovalDecidedData>;

/** `tool` and, when they are small, `arguments` are copied from the submission, so a watcher of Start needs no look-up. */
export const StartData = z.object({ tool: z.string(), arguments: Json.optional(), worker: z.string() });
export type StartData = z.output<typeof StartData>;

/** `update` counts from 1 within the attempt. Partial content is for watchers, never for the model. */
export const UpdateData = z.object({ update: z.number().int(), content: z.array(Content), truncated: z.boolean().optional() });
export type UpdateData = z.output<typeof UpdateData>;

export const ProgressData = z.object({ message: z.string().optional(), done: z.number().optional(), total: z.number().optional() });
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
export const HookRunData = z.object({
  phase: z.enum(['started', 'finished', 'cached']),
  hook: z.string(),
  event: HookEvent,
  /** Counts the runs of the attempt from 1; `started` and `finished` of a run have the same number. */
  run: z.number().int(),
  /** RFC 3339, by the clock of the process that ran the hook. The event's `time` is when it was written. */
  at: z.string(),
  /** Absent in `started`. `stopped`: the call was cancelled, or its caller disconnected, before the hook answered. */
  verdict: z.enum(['allow', 'deny', 'stopped']).optional(),
  /** The hook gave no usable answer: its `onError` is the verdict. */
  failed: z.literal(true).optional(),
  /** The hook changed the arguments. */
  rewrote: z.literal(true).optional(),
  /** Why, as the hook said it or as it failed; without secrets, at most 300 characters. */
  reason: z.string().optional(),
  /** Absent in `started`. */
  tookMs: z.number().int().optional(),
});
export type HookRunData = z.output<typeof HookRunData>;

/** Why a running attempt went back to the queue. `suspended` and `worker_drained` count as no failure. */
export const RetryReason = z.enum(['tool_failed', 'run_timeout', 'worker_lost', 'worker_drained', 'suspended']);
export type RetryReason = z.output<typeof RetryReason>;

export const RetryData = z.object({
  reason: RetryReason,
  nextAttempt: z.number().int(),
  delayMs: z.number().int(),
  error: CallError.optional(),
});
export type RetryData = z.output<typeof RetryData>;

export const CancelRequestedData = z.object({ reason: z.string().optional(), graceMs: z.number().int() });
export type CancelRequestedData = z.output<typeof CancelRequestedData>;

/**
 * What is known of how a cancel or a time-out stopped the tool, and how long that took.
 * - `stopped`: it ended because it was asked to; `killed`: it had to be killed
 * - `finished_first`: it had ended before; `not_started`: it never ran
 * - `unknown`: its end was not seen, such as when its worker fell silent, or it ended with success after it was asked to stop
 */
export const Stopped = z.object({
  how: z.enum(['stopped', 'killed', 'finished_first', 'not_started', 'unknown']),
  tookMs: z.number().int(),
});
export type Stopped = z.output<typeof Stopped>;

/**
 * The one End of a call. `result` stands inline when small, else `resultRef` tells where it is. `isError` is that of the
 * result, wherever it is, and `note` says in a few words why a completed call has an error result (`exit 1`); Ends of older
 * versions have neither.
 * `updates` lets a reader prove that it has every Update of all attempts, unaltered. `sha256` is over the concatenated JSON
 * texts of their `content`, each followed by a line feed; where an attempt before had Updates, the digest of a later one
 * begins with the digest of those, as 64 hexadecimal digits and a line feed. Absent where a release that did not count
 * wrote a part of the call, and where an Update never came to the log. Ends of earlier releases tell of the last attempt only.
 */
export const EndData = z.object({
  outcome: CallOutcome,
  isError: Success.isError,
  note: Success.note,
  error: CallError.optional(),
  result: Result.optional(),
  resultRef: ClaimCheck.optional(),
  output: ClaimCheck.optional(),
  attempts: z.number().int(),
  queueMs: z.number().int().optional(),
  runMs: z.number().int().optional(),
  stopped: Stopped.optional(),
  updates: z.object({ count: z.number().int(), sha256: z.string() }).optional(),
});
export type EndData = z.output<typeof EndData>;

export const CALL_EVENT_DATA = {
  'call.submitted': SubmittedData,
  'call.approval_requested': ApprovalRequestedData,
  'call.approval_decided': ApprovalDecidedData,
  'call.start': StartData,
  'call.update': UpdateData,
  'call.progress': ProgressData,
  'call.hook': HookRunData,
  'call.retry': RetryData,
  'call.cancel_requested': CancelRequestedData,
  'call.end': EndData,
} as const;

export type CallEventType = keyof typeof CALL_EVENT_DATA;
export const CALL_EVENT_TYPES = keysOf(CALL_EVENT_DATA);
export const CallEventType = z.enum(CALL_EVENT_TYPES).meta({ id: 'CallEventType' });

/** False for events that change nothing of a call: a fold may leave them out. */
export function changesCall(type: CallEventType): boolean {
  return type !== 'call.update' && type !== 'call.progress' && type !== 'call.hook';
}

export type CallEventData<T extends CallEventType> = z.output<(typeof CALL_EVENT_DATA)[T]>;
