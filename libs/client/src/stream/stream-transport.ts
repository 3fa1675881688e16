import type { EventFilter } from '#contracts';
import { isWrongAddress } from '../http/connection-failure.js';
import type { ToolyardError } from '../toolyard-error.js';
import type { ReceivedFrame } from './server-frame.js';
import type { StreamState } from './stream-state.js';

/** Frames of one subscription. */
export type SubscriptionFrame = Extract<ReceivedFrame, { op: 'subscribed' | 'events' | 'gap' | 'resync' }>;

/** Subscriber from the transport's view. */
export interface StreamReader {
  readonly filter: EventFilter;
  /** Position to continue from; undefined before the first frame. */
  readonly cursor: string | undefined;
  take(frame: SubscriptionFrame): void;
  onStateChange(state: StreamState): void;
  /** Called once and last, for a failed stream. */
  fail(error: ToolyardError): void;
}

/** Delivers events to readers, and reconnects by itself. */
export interface StreamTransport {
  /** Delivers events to the reader from its cursor on. */
  add(reader: StreamReader): void;
  /** Removes the reader, which gets nothing afterwards. Idempotent. */
  remove(reader: StreamReader): void;
}

/**
 * True for temporary errors: a retry may succeed. If nothing has ever responded, only for the first `retries` consecutive
 * attempts: browsers do not report a wrong address.
 */
export function isRetryable(error: ToolyardError, attempt: number, retries: number): boolean {
  const { code } = error;
  if (isWrongAddress(error) || (error.neverAnswered && attempt > retries)) return false;
  return code === 'unreachable' || code === 'timed_out' || code === 'unavailable' || code === 'overloaded' || code === 'too_many_requests';
}
