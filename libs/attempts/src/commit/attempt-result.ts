import type { CallErrorCode, JsonSchema, JsonValue, Result, RetryData, Violation } from '#contracts';
import type { Applied, Rejection } from '#event-log';

/** Reason of an abort. After `lease_lost` nothing more may be written about the attempt: another worker owns the call. */
export type AbortReason = 'run_timeout' | 'cancelled' | 'drained' | 'lease_lost';

export interface Failure {
  readonly code: CallErrorCode;
  /** Text for the model, without stack or path of this machine. Cut to size only after its secrets are redacted. */
  readonly message: string;
  readonly retryable: boolean;
  /** Earliest start of the next attempt. */
  readonly retryAfterMs?: number;
  readonly errors?: readonly Violation[];
  readonly missingCapability?: 'sampling';
  readonly killed?: boolean;
  readonly mayHaveFinished?: boolean;
  /** The external source that may have written the message. */
  readonly origin?: string;
}

/** Suspension with checked sizes. */
export interface SuspensionRequest {
  readonly until: 'timer' | 'children' | 'input';
  /** Absent if the call ends without the input. */
  readonly resumeInMs?: number;
  /** Prompt, redacted and cut by `sanitize`. */
  readonly prompt?: string;
  readonly inputSchema?: JsonSchema;
  /** Request for a model's answer, redacted by `sanitize`. */
  readonly sampling?: JsonValue;
  readonly declinable?: true;
  /** JSON text. */
  readonly state?: string;
}

/**
 * Result of the tool's run. `unresponsive`: the tool was aborted and did not end in its grace. `not_started`: the abort came
 * first.
 */
export type RunResult<Output = unknown> =
  | { readonly kind: 'output'; readonly output: Output }
  | { readonly kind: 'suspended'; readonly request: SuspensionRequest }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly unexpected?: unknown }
  | { readonly kind: 'unresponsive' }
  | { readonly kind: 'not_started' };

/** End of an attempt whose call continues. */
export interface RetriedAttempt {
  readonly kind: 'retried';
  readonly data: RetryData;
  readonly nextAttempt: number;
  /** Absent if only input, or the reconciler, resumes the call. */
  readonly delayMs: number | undefined;
  readonly answer: Applied | Rejection;
}

/** Feedback of hooks on a call that has run. */
export interface HookFeedback {
  /** Text for the model, below the tool's output. */
  readonly text?: string;
  /** True if the result counts as an error. */
  readonly denied: boolean;
  /** Actions of each hook, for people. */
  readonly runs: NonNullable<Result['details']>[string][];
}
