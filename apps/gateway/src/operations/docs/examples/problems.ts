import { errorEntry, type ErrorCode, type Problem } from '#contracts';

/** Example detail of each problem code. */
const DETAILS: Readonly<Record<ErrorCode, string>> = {
  not_found: "Unknown tool: shel. Did you mean 'shell'?",
  invalid_arguments: "shell: missing 'command' parameter",
  payload_too_large: 'The body is too large: expected at most 1048576 bytes',
  policy_denied: 'command denied: rm -rf / deletes the root of the file system',
  approval_denied: 'Denied by apikey:people: not on this branch',
  approval_expired: 'There was no answer within 3,600 s',
  hook_rejected: 'The hook audit rejected the call: the ticket is closed',
  rate_limited: 'The session has used its 20 calls of this minute; try again in 12 s',
  quota_exceeded: 'The session has 100 background runs at once already: stop one of them',
  queue_timeout: 'No worker of the pool shell was free within 3,600 s',
  input_expired: 'No input came within 3,600 s',
  run_timeout: 'The attempt ran longer than 120 s and was stopped',
  cancelled: 'Cancelled by apikey:people: no longer needed',
  unavailable: 'No worker is alive for the pool shell',
  tool_failed: 'File not found: nope.txt. Use file_list or glob to see what is there.',
  worker_lost: 'The worker that ran the call is gone',
  outcome_unknown: 'The worker is gone, and the call may have had its effect: look before you repeat it',
  output_invalid: "The result does not match the tool's output schema: /count: expected a number",
  internal: 'Something went wrong inside; the log of the gateway tells more under the id in instance',
  malformed_json: 'Expected JSON; the body ends after 17 characters',
  invalid_request: 'The query is not valid: /limit: expected at most 200',
  unauthenticated: 'Expected Authorization: Bearer <key> with a key that is known here',
  forbidden: 'This needs the scope approve; the key has submit, read',
  origin_refused: 'The Origin https://example.org is not allowed',
  resource_not_found: 'No call with this id',
  method_not_allowed: 'This path knows GET, HEAD, POST only',
  call_lost: 'A failover of Redis lost this call: no replica had it. Submit it again',
  conflict: 'The call is ended: it does not wait for a decision',
  unsupported_media_type: 'Expected application/json; got text/plain',
  range_not_satisfiable: 'The output has 2048 bytes',
  upgrade_required: 'Expected a WebSocket upgrade',
  idempotency_key_reused: 'The key turn-17-call-1 was used with another body within 24 hours',
  too_many_requests: 'The key may make 600 requests a minute; try again in 4 s',
  not_implemented: 'This part of the protocol is not implemented',
  history_unavailable: 'Lists need a history database: set DATABASE_URL',
  overloaded: 'Redis cannot be reached; try again later',
};

/** Problem in its response form. */
export function problemExample(code: ErrorCode): Problem {
  const { title, status } = errorEntry(code);
  const instance = 'urn:toolyard:request:host-1-4f';
  return { type: `urn:toolyard:problem:${code}`, title, status, detail: DETAILS[code], code, instance };
}
