import { isJSONRPCErrorResponse, SdkHttpError, type JSONRPCErrorResponse, type RequestId } from '@modelcontextprotocol/client';

type JsonRpcError = JSONRPCErrorResponse['error'];

/** The code of JSON-RPC for errors of a server's own. */
const SERVER_ERROR = -32_000;

/** The reasons of `fetch` by which nothing was sent. After any other one the gateway may have the request. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Answer to a request that did not reach the gateway. `error`: error of the transport. */
export function errorAnswer(id: RequestId, error: unknown, url: string): JSONRPCErrorResponse {
  if (error instanceof SdkHttpError) return { jsonrpc: '2.0', id, error: refusal(error, url) };
  const reason = reasonOf(error);
  return NOT_SENT.has(reason) ? { jsonrpc: '2.0', id, error: unreachable(reason, url) } : lostAnswer(id, url);
}

/** The answer to a request whose response broke off. */
export function lostAnswer(id: RequestId, url: string): JSONRPCErrorResponse {
  const message = `The connection to the gateway at ${url} broke before the answer came. A call may have run: look it up with \`toolyard calls\` before you repeat it.`;
  return { jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message } };
}

/** The session of a client of a revision before 2026-07-28 is unknown or over. */
export function isSessionLost(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status === 404;
}

/** The gateway's own error where it sent one: of JSON-RPC, or a problem (RFC 9457). */
function refusal(error: SdkHttpError, url: string): JsonRpcError {
  const { status } = error;
  const body = parsed(error.data.text);
  const answer: unknown = { ...body, id: 0 };
  if (isJSONRPCErrorResponse(answer)) return answer.error;
  const detail = body['detail'] ?? body['title'];
  const message = typeof detail === 'string' ? detail : `The gateway at ${url} answered with status ${status}, which is none of MCP`;
  return { code: SERVER_ERROR, message, data: { status, ...(typeof body['code'] === 'string' ? { code: body['code'] } : {}) } };
}

function unreachable(reason: string, url: string): JsonRpcError {
  const message = `No answer from the gateway at ${url} (${reason}). Start it, or give another address with --url or TOOLYARD_URL. The next request tries again.`;
  return { code: SERVER_ERROR, message };
}

/** The `fetch` of Node throws "fetch failed" and has the reason in `cause`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

function parsed(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
