import type { EventFilter } from '#contracts';
import { isWrongAddress } from '../http/connection-failure.js';
import type { ToolyardError } from '../toolyard-error.js';
import type { ReceivedFrame } from './server-frame.js';
import type { StreamState } from './stream-state.js';

/** The frames that belong to one subscription. */
export type SubscriptionFrame = Extract<ReceivedFrame, { op: 'subscribed' | 'events' | 'gap' | 'resync' }>;

/** A subscriber, as its transport sees it. */
export interface StreamReader {
  readonly filter: EventFilter;
  /** Where to continue; undefined before the first frame. */
  readonly cursor: string | undefined;
  take(frame: SubscriptionFrame): void;
  onStateChange(state: StreamState): void;
  /** Called once and last: the stream has failed. */
  fail(error: ToolyardError): void;
}

/** Delivers events to readers, and reconnects by itself. */
export interface StreamTransport {
  /** Delivers events to the reader from its cursor on. */
  add(reader: StreamReader): void;
  /** The reader gets nothing afterwards. Idempotent. */
  remove(reader: StreamReader): void;
}

/**
 * True for errors that pass: a retry may succeed. Where nothing has ever answered, only for the first `retries` of the attempts in a
 * row: browsers do not say that an address is wrong.
 */
export function isRetryable(error: ToolyardError, attempt: number, retries: number): boolean {
  const { code } = error;
  if (isWrongAddress(error) || (error.neverAnswered && attempt > retries)) return false;
  return code === 'unreachable' || code === 'timed_out' || code === 'unavailable' || code === 'overloaded' || code === 'too_many_requests';
}
