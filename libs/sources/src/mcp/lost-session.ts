import { INTERNAL_ERROR, INVALID_PARAMS, ProtocolError, SdkHttpError } from '@modelcontextprotocol/client';

/** Messages of server libraries, in words. */
const NO_SESSION =
  /\b(?:no valid|no active|no such|not find|invalid|unknown|expired|missing) (?:the )?(?:mcp[ -])?session|\bno (?:mcp[ -])?session (?:was )?(?:found|exists)\b/i;
/** An id after the word has a digit, is in quotes or long. */
const LOST =
  /\bsession(?:[ -]?id)?:?(?: with id)?(?: (?=[\\"'`<([]|\S{16}|\S{0,100}\d)\S{1,200})?(?: (?:is|was|has|been|does|could|can|be))* (?:not (?:be )?(?:found|exist|known|active)|no longer \w|unknown|expired|invalid|closed|terminated|missing)/i;
const MAX_CHARACTERS = 2_000;
const NOT_BEGUN = /not (?:been )?initiali[sz]ed|before initiali[sz]ation/i;
const NOT_FOUND = -32_001;
/** Codes with which libraries refuse a request. */
const REFUSED = new Set([NOT_FOUND, -32_000, -32_002, -32_600]);

function namesLostSession(message: string): boolean {
  const said = message
    .slice(0, MAX_CHARACTERS)
    .replace(/\bcan(?:['’]|no)t\b/gi, 'can not')
    .replace(/n['’]t\b/gi, ' not');
  // Names of errors are words in camel case or with low lines; so may ids be.
  const words = said.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return [said, words].some((it) => NO_SESSION.test(it) || LOST.test(it));
}

/** True for an answer by which the server no longer knows the session, since it ended it or was started again. */
export function isSessionLost(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  const { status, message } = error;
  if (status === 404 || status === 410) return true;
  return status === 400 ? /session/i.test(message) || NOT_BEGUN.test(message) : status !== 401 && namesLostSession(message);
}

/** True for such an answer before anything began. A server that fails (5xx) may name a session of its own after an effect. */
export function isRefusedBySession(error: unknown): boolean {
  return isSessionLost(error) && error instanceof SdkHttpError && error.status < 500;
}

/** Some servers answer with an error of the request where the protocol has 404. */
export function isSessionGoneError({ code, message }: { readonly code: number; readonly message: string }): boolean {
  if (code === NOT_FOUND && /session/i.test(message)) return true;
  if (NOT_BEGUN.test(message) && (REFUSED.has(code) || code === INVALID_PARAMS)) return true;
  // With INVALID_PARAMS a tool may refuse a session among its arguments.
  return (REFUSED.has(code) || code === INTERNAL_ERROR) && namesLostSession(message);
}

export function isSessionLostError(error: unknown): boolean {
  return error instanceof ProtocolError && isSessionGoneError(error);
}
