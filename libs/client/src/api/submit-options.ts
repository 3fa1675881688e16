import { LIMITS } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import { newIdempotencyKey } from '../http/idempotency-key.js';

export interface SubmitOptions extends RequestOptions {
  /** Default: generated, unless session and `toolCallId` identify a repetition. */
  readonly idempotencyKey?: string | undefined;
  /** Longest wait for the End before the response, at most a minute. */
  readonly waitMs?: number | undefined;
  /** Cancels the call at the gateway if this program disconnects during the wait (`waitMs`). Needs the scope `cancel`. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** Options of reads that can wait for an end. */
export interface WaitOptions extends RequestOptions {
  /** Longest wait for the end before the response, at most a minute. */
  readonly waitMs?: number | undefined;
}

/** Headers of a submission, and the options of its request. `makeKey`: generates a missing `idempotencyKey`. */
export function submitInput(submit: SubmitOptions, { makeKey = true } = {}) {
  const { idempotencyKey, waitMs, cancelOnDisconnect = false, traceparent, ...options } = submit;
  const headers = {
    'Idempotency-Key': idempotencyKey ?? (makeKey ? newIdempotencyKey() : undefined),
    Prefer: waitMs === undefined ? undefined : `wait=${waitSeconds(waitMs)}${cancelOnDisconnect ? ', cancel-on-disconnect' : ''}`,
    traceparent,
  };
  return { headers, waitMs, ...options };
}

/** Whole seconds for `Prefer` and `?wait=`. */
export function waitSeconds(ms: number): number {
  return Math.min(LIMITS.waitSeconds, Math.ceil(ms / 1000));
}
