import { INVALID_PARAMS, ProtocolError, SdkHttpError } from '@modelcontextprotocol/client';

/** Messages of server libraries. */
const LOST =
  /(?:no valid|invalid|unknown|expired|missing|no such) (?:mcp[ -])?session|session(?:[ -]?id)?(?: (?:is|was|has|been|does))* (?:not found|not exist|unknown|expired|invalid|closed|terminated|missing)/i;
const NOT_BEGUN = /not (?:been )?initiali[sz]ed|before initiali[sz]ation/i;
const NOT_FOUND = -32_001;
/** Codes with which libraries refuse a request. */
const REFUSED = new Set([NOT_FOUND, -32_000, -32_600]);

/** True for an answer by which the server no longer knows the session, since it ended it or was started again. */
export function isSessionLost(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  const { status, message } = error;
  if (status === 404 || status === 410) return true;
  return status === 400 ? /session/i.test(message) || NOT_BEGUN.test(message) : status !== 401 && LOST.test(message);
}

/** True for such an answer before anything began. A server that fails (5xx) may name a session of its own after an effect. */
export function isRefusedBySession(error: unknown): boolean {
  return isSessionLost(error) && error instanceof SdkHttpError && error.status < 500;
}

/** Some servers answer with an error of the request where the protocol has 404. */
export function isSessionGoneError({ code, message }: { readonly code: number; readonly message: string }): boolean {
  if (code === NOT_FOUND && /session/i.test(message)) return true;
  // With INVALID_PARAMS a tool may refuse a session among its arguments.
  return NOT_BEGUN.test(message) ? REFUSED.has(code) || code === INVALID_PARAMS : REFUSED.has(code) && LOST.test(message);
}

export function isSessionLostError(error: unknown): boolean {
  return error instanceof ProtocolError && isSessionGoneError(error);
}
