import type { EventFilter } from '#contracts';
import type { ToolyardError } from '../toolyard-error.js';
import type { ReceivedFrame } from './server-frame.js';
import type { StreamState } from './stream-state.js';

/** What a reader gets. */
export type SubscriptionFrame = Extract<ReceivedFrame, { op: 'subscribed' | 'events' | 'gap' | 'resync' }>;

/** One reader of the stream, as what brings it its events sees it. */
export interface StreamReader {
  readonly filter: EventFilter;
  /** Where to go on; undefined before the first answer. */
  readonly cursor: string | undefined;
  take(frame: SubscriptionFrame): void;
  onStateChange(state: StreamState): void;
  /** The last word: nothing more will come. */
  fail(error: ToolyardError): void;
}

/** Brings events to readers, and connects again by itself. */
export interface StreamTransport {
  /** Gives the reader events from its cursor on. */
  add(reader: StreamReader): void;
  /** Nothing is given to the reader afterwards. Idempotent. */
  remove(reader: StreamReader): void;
}

/** Whether the same may go well a moment later. */
export function isRetryable({ code }: ToolyardError): boolean {
  return code === 'unreachable' || code === 'timed_out' || code === 'unavailable' || code === 'overloaded' || code === 'too_many_requests';
}
