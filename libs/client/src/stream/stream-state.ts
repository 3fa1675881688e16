import type { ToolyardError } from '../toolyard-error.js';

/**
 * State of a stream: `connecting` for the first time, `live` (no event is missed from here on), `reconnecting` with the reason
 * and the time of the next attempt, `closed` by its reader or by an error that cannot be retried.
 */
export type StreamState =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'reconnecting'; readonly error: ToolyardError; readonly attempt: number; readonly inMs: number }
  | { readonly state: 'closed'; readonly error?: ToolyardError };
