import type { ToolyardError } from '../toolyard-error.js';

/**
 * How a stream is doing: `connecting` for the first time, `live` (nothing is missed from here on), `reconnecting` with the
 * reason and when the next attempt is, `closed` by its reader or by an error that no repetition cures.
 */
export type StreamState =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'reconnecting'; readonly error: ToolyardError; readonly attempt: number; readonly inMs: number }
  | { readonly state: 'closed'; readonly error?: ToolyardError };
