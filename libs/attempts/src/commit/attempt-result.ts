import type { CallErrorCode, JsonSchema, JsonValue, Result, RetryData, Violation } from '#contracts';
import type { Applied, Rejection } from '#event-log';

/**
 * Why an attempt was aborted. After `lease_lost` nothing more may be written about it: another worker owns the call.
 */
export type AbortReason = 'run_timeout' | 'cancelled' | 'drained' | 'lease_lost';

export interface Failure {
  readonly code: CallErrorCode;
  /** For the model: no stack, no path of this machine. Cut to size only after its secrets are redacted. */
  readonly message: string;
  readonly retryable: boolean;
  /** The next attempt begins no sooner. */
  readonly retryAfterMs?: number;
  readonly errors?: readonly Violation[];
  readonly missingCapability?: 'sampling';
  readonly killed?: boolean;
  readonly mayHaveFinished?: boolean;
  /** The external source that may have written the message. */
  readonly origin?: string;
}

/** A suspension whose sizes are checked. */
export interface SuspensionRequest {
  readonly until: 'timer' | 'children' | 'input';
  /** Absent for input without which the call ends. */
  readonly resumeInMs?: number;
  /** Redacted and cut by `sanitize`. */
  readonly prompt?: string;
  readonly inputSchema?: JsonSchema;
  /** Redacted by `sanitize`. */
  readonly sampling?: JsonValue;
  readonly declinable?: true;
  /** As JSON text. */
  readonly state?: string;
}

/**
 * How the tool itself ended. `unresponsive`: it was aborted and did not end in its grace. `not_started`: the abort came
 * first.
 */
export type RunResult<Output = unknown> =
  | { readonly kind: 'output'; readonly output: Output }
  | { readonly kind: 'suspended'; readonly request: SuspensionRequest }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly unexpected?: unknown }
  | { readonly kind: 'unresponsive' }
  | { readonly kind: 'not_started' };

/** The attempt is over and the call is not. */
export interface RetriedAttempt {
  readonly kind: 'retried';
  readonly data: RetryData;
  readonly nextAttempt: number;
  /** Absent where only input, or the reconciler, brings it back. */
  readonly delayMs: number | undefined;
  readonly answer: Applied | Rejection;
}

/** What hooks said about a call that has run. */
export interface HookFeedback {
  /** For the model, below the tool's output. */
  readonly text?: string;
  /** The result counts as an error. */
  readonly denied: boolean;
  /** For people: which hook did what. */
  readonly runs: NonNullable<Result['details']>[string][];
}
