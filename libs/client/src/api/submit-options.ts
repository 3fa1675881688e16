import { LIMITS } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import { newIdempotencyKey } from '../http/idempotency-key.js';

export interface SubmitOptions extends RequestOptions {
  /** Without one the client makes one, unless session and `toolCallId` identify a repetition. */
  readonly idempotencyKey?: string | undefined;
  /** Return when the call has ended, after at most that long; at most a minute. */
  readonly waitMs?: number | undefined;
  /** With `waitMs`: the gateway cancels the call when this program disconnects during the wait. Needs the scope `cancel`. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** For reads that can wait for an end. */
export interface WaitOptions extends RequestOptions {
  /** Return when it has ended, after at most that long; at most a minute. */
  readonly waitMs?: number | undefined;
}

/** The headers of a submission, and the options of its request. `makeKey`: without an `idempotencyKey` one is made. */
export function submitInput(submit: SubmitOptions, { makeKey = true } = {}) {
  const { idempotencyKey, waitMs, cancelOnDisconnect = false, traceparent, ...options } = submit;
  const headers = {
    'Idempotency-Key': idempotencyKey ?? (makeKey ? newIdempotencyKey() : undefined),
    Prefer: waitMs === undefined ? undefined : `wait=${waitSeconds(waitMs)}${cancelOnDisconnect ? ', cancel-on-disconnect' : ''}`,
    traceparent,
  };
  return { headers, waitMs, ...options };
}

/** Whole seconds, as `Prefer` and `?wait=` take them. */
export function waitSeconds(ms: number): number {
  return Math.min(LIMITS.waitSeconds, Math.ceil(ms / 1000));
}
