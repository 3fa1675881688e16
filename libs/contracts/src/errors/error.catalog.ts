import { keysOf } from '../values/keys-of.js';

/**
 * Every error code of the public interface.
 *
 * - `CALL_ERRORS` are reasons for a call to end without success; they appear as `error.code` of a Call.
 * - `REQUEST_ERRORS` are rejections of a request that never became a call (malformed JSON, wrong key, unknown id).
 *
 * `status` is the HTTP status, `retryable`: the same request may succeed later without a change.
 */
export interface ErrorEntry {
  readonly status: number;
  readonly title: string;
  readonly retryable: boolean;
}

export const CALL_ERRORS = {
  not_found: { status: 404, title: 'Tool not found', retryable: false },
  invalid_arguments: { status: 422, title: 'Invalid arguments', retryable: false },
  /** Includes a body that never became a call. */
  payload_too_large: { status: 413, title: 'Too large', retryable: false },
  policy_denied: { status: 403, title: 'Denied by policy', retryable: false },
  approval_denied: { status: 403, title: 'Approval denied', retryable: false },
  approval_expired: { status: 403, title: 'Approval expired', retryable: false },
  hook_rejected: { status: 403, title: 'Rejected by a hook', retryable: false },
  rate_limited: { status: 429, title: 'Rate limit reached', retryable: true },
  quota_exceeded: { status: 429, title: 'Quota exceeded', retryable: true },
  queue_timeout: { status: 504, title: 'Waited too long in the queue', retryable: true },
  input_expired: { status: 504, title: 'No input came in time', retryable: true },
  run_timeout: { status: 504, title: 'Ran longer than allowed', retryable: true },
  cancelled: { status: 409, title: 'Cancelled', retryable: false },
  unavailable: { status: 503, title: 'Not available now', retryable: true },
  tool_failed: { status: 502, title: 'The tool failed', retryable: false },
  worker_lost: { status: 502, title: 'The worker was lost', retryable: true },
  outcome_unknown: { status: 502, title: 'The outcome is unknown', retryable: false },
  output_invalid: { status: 502, title: 'The tool returned an invalid output', retryable: false },
  internal: { status: 500, title: 'Internal error', retryable: true },
} as const satisfies Record<string, ErrorEntry>;

export const REQUEST_ERRORS = {
  malformed_json: { status: 400, title: 'The body is not valid JSON', retryable: false },
  invalid_request: { status: 422, title: 'Invalid request', retryable: false },
  unauthenticated: { status: 401, title: 'Authentication required', retryable: false },
  forbidden: { status: 403, title: 'Not allowed with this key', retryable: false },
  origin_refused: { status: 403, title: 'Origin or Host not allowed', retryable: false },
  resource_not_found: { status: 404, title: 'Not found', retryable: false },
  method_not_allowed: { status: 405, title: 'Method not allowed', retryable: false },
  /** A failover of Redis lost an accepted call that no replica had. */
  call_lost: { status: 410, title: 'The call was lost', retryable: false },
  conflict: { status: 409, title: 'The state of the resource does not allow this', retryable: false },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', retryable: false },
  range_not_satisfiable: { status: 416, title: 'The range is outside the output', retryable: false },
  upgrade_required: { status: 426, title: 'A WebSocket is expected', retryable: false },
  idempotency_key_reused: { status: 422, title: 'Idempotency-Key used with another body', retryable: false },
  too_many_requests: { status: 429, title: 'Too many requests', retryable: true },
  not_implemented: { status: 501, title: 'Not implemented', retryable: false },
  history_unavailable: { status: 503, title: 'Lists are not available now', retryable: true },
  overloaded: { status: 503, title: 'No capacity now', retryable: true },
} as const satisfies Record<string, ErrorEntry>;

export type CallErrorCode = keyof typeof CALL_ERRORS;
export type RequestErrorCode = keyof typeof REQUEST_ERRORS;
export type ErrorCode = CallErrorCode | RequestErrorCode;

export const CALL_ERROR_CODES = keysOf(CALL_ERRORS);
export const REQUEST_ERROR_CODES = keysOf(REQUEST_ERRORS);

const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = { ...REQUEST_ERRORS, ...CALL_ERRORS };

export function errorEntry(code: ErrorCode): ErrorEntry {
  return ERRORS[code];
}
