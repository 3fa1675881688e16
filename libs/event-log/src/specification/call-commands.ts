// Part of the executable specification of stream/apply-transitions.lua: tests run it, the product does not.
import type { CallEventType, CallOutcome } from '#contracts';
import type { Applied, CallMeta, CommandGuard, ReconcilerGuard, Rejection, WorkerGuard } from '../event-log.port.js';
import type { CallState, CallOptions } from '../call/call-snapshot.js';

/** A command to a call, reduced to the facts that decide. The texts of the events are not part of it. */
export type CallCommand =
  | {
      readonly kind: 'accept';
      readonly callId: string;
      readonly meta: CallMeta;
      readonly terms: CallOptions;
      readonly totalMs: number;
      readonly followUp: 'queue' | 'refuse' | { readonly approvalWithinMs: number };
      readonly requestSha256?: string;
      /** Number of hook events that come with the submission. */
      readonly hooks?: number;
    }
  | { readonly kind: 'claim'; readonly attempt: number; readonly leaseMs: number; readonly token: string }
  | { readonly kind: 'update'; readonly guard: WorkerGuard; readonly updates: string }
  | { readonly kind: 'progress'; readonly guard: WorkerGuard }
  | { readonly kind: 'hook'; readonly guard: WorkerGuard }
  | { readonly kind: 'turn'; readonly guard: WorkerGuard }
  | { readonly kind: 'renew'; readonly fence: number; readonly leaseMs: number }
  | {
      readonly kind: 'retry';
      readonly guard: WorkerGuard | ReconcilerGuard;
      readonly nextAttempt: number;
      readonly delayMs: number;
      readonly countsAsFailure: boolean;
    }
  | {
      readonly kind: 'suspend';
      readonly guard: WorkerGuard;
      readonly nextAttempt: number;
      readonly delayMs: number;
      readonly until: 'timer' | 'children';
    }
  | {
      readonly kind: 'requestInput';
      readonly guard: WorkerGuard;
      readonly nextAttempt: number;
      /** Absent: the call ends without a value after `expiresInMs`. */
      readonly resumeInMs?: number | undefined;
      readonly expiresInMs?: number | undefined;
    }
  | { readonly kind: 'giveInput'; readonly guard: CommandGuard }
  | { readonly kind: 'wake' }
  | {
      readonly kind: 'end';
      readonly guard: WorkerGuard | ReconcilerGuard | CommandGuard;
      readonly outcome: CallOutcome;
      readonly hooks?: number;
    }
  | { readonly kind: 'requestCancel'; readonly guard: CommandGuard; readonly graceMs: number }
  | { readonly kind: 'holdApproval'; readonly guard: CommandGuard; readonly hooks: number }
  | {
      readonly kind: 'decideApproval';
      readonly guard: CommandGuard;
      readonly decision: 'allow' | 'deny';
      readonly digest: string;
      /** Digest of the arguments as edited by the approver. */
      readonly editedDigest?: string | undefined;
      readonly hooks?: number;
    }
  | { readonly kind: 'deferDispatch'; readonly fence: number; readonly delayMs: number };

/** Facts outside the call with which a command is decided. The clock is that of Redis. */
export interface DecisionContext {
  readonly now: number;
  /** Last sequence number of the partition; the decided events get the next ones. */
  readonly seq: number;
  /** Earlier answer to the same commandId. */
  readonly applied?: Omit<Applied, 'code'>;
  /** Call that holds the idempotency key of an accept. */
  readonly keyHolder?: { readonly callId: string; readonly requestSha256: string };
}

/** Event of a call, reduced to the facts that the state depends on. */
export type EventSummary = { readonly seq: number; readonly time: number; readonly fence: number } & (
  | {
      readonly type: 'call.submitted';
      readonly callId: string;
      readonly meta: CallMeta;
      readonly terms: CallOptions;
      readonly totalMs: number;
    }
  | { readonly type: 'call.approval_requested'; readonly withinMs: number }
  | { readonly type: 'call.approval_decided'; readonly decision: 'allow' | 'deny'; readonly editedDigest?: string | undefined }
  | { readonly type: 'call.start'; readonly leaseMs: number }
  | { readonly type: 'call.update'; readonly updates: string }
  | { readonly type: 'call.progress' }
  | { readonly type: 'call.hook' }
  | { readonly type: 'call.turn' }
  | {
      readonly type: 'call.retry';
      readonly delayMs: number;
      readonly countsAsFailure: boolean;
      /** Reason of a suspension. */
      readonly until?: 'timer' | 'children';
    }
  | { readonly type: 'call.input_requested'; readonly resumeInMs?: number | undefined; readonly expiresInMs?: number | undefined }
  | { readonly type: 'call.input_given' }
  | { readonly type: 'call.cancel_requested'; readonly graceMs: number }
  | { readonly type: 'call.end' }
);

/** Event as stamped by the script. */
export interface DecidedEvent {
  readonly type: CallEventType;
  readonly seq: number;
  readonly version: number;
  readonly attempt: number;
  /** Fence of the worker that wrote it; 0 for other writers. */
  readonly fence: number;
}

export type Decision =
  | { readonly code: 'OK'; readonly events: readonly DecidedEvent[]; readonly state: CallState }
  | ({ readonly code: 'REPLAY' } & Omit<Applied, 'code'>)
  | { readonly code: 'IDEM' | 'IDEM_MISMATCH'; readonly callId: string }
  | Rejection;
