/**
 * A request that was refused before it left (`blocked`, `invalid`) or that the network did not carry (`failed`).
 * The message is for the model and names no address that was looked up.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  constructor(
    readonly kind: 'blocked' | 'invalid' | 'failed',
    message: string,
    readonly retryable = false,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** A URL as a message names it. Half of a long one might be half of a secret. */
export function displayUrl(text: string): string {
  return text.length > 200 ? `a URL of ${text.length} characters` : text;
}

const EXPLAINED: Readonly<Record<string, { readonly text: string; readonly retryable: boolean }>> = {
  ENOTFOUND: { text: 'the host name does not exist', retryable: false },
  EAI_AGAIN: { text: 'the host name could not be resolved now', retryable: true },
  ECONNREFUSED: { text: 'the connection was refused', retryable: true },
  ECONNRESET: { text: 'the connection was reset', retryable: true },
  EHOSTUNREACH: { text: 'the host cannot be reached', retryable: true },
  ENETUNREACH: { text: 'the network cannot be reached', retryable: true },
  ETIMEDOUT: { text: 'the connection timed out', retryable: true },
  EPIPE: { text: 'the connection was closed too early', retryable: true },
  UND_ERR_SOCKET: { text: 'the connection was closed too early', retryable: true },
  UND_ERR_CONNECT_TIMEOUT: { text: 'no connection within 10 seconds', retryable: true },
  UND_ERR_HEADERS_TIMEOUT: { text: 'no answer in time', retryable: true },
  UND_ERR_BODY_TIMEOUT: { text: 'the body stopped coming', retryable: true },
  UND_ERR_HEADERS_OVERFLOW: { text: 'the header of the answer is too large', retryable: false },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { text: 'the body is not as long as its header says', retryable: false },
  HTTPParserError: { text: 'the answer is not HTTP', retryable: false },
  CERT_HAS_EXPIRED: { text: 'the TLS certificate has expired', retryable: false },
  DEPTH_ZERO_SELF_SIGNED_CERT: { text: 'the TLS certificate is self-signed', retryable: false },
  SELF_SIGNED_CERT_IN_CHAIN: { text: 'the TLS certificate is self-signed', retryable: false },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { text: 'the TLS certificate cannot be verified', retryable: false },
  ERR_TLS_CERT_ALTNAME_INVALID: { text: 'the TLS certificate is for another host', retryable: false },
  Z_DATA_ERROR: { text: 'the compressed body is damaged', retryable: false },
};

/** Any error of a request as an EgressError; unknown errors count as transient. */
export function toEgressError(error: unknown, host: string): EgressError {
  const found = causes(error).find((cause) => cause instanceof EgressError);
  if (found) return found;
  const code = causes(error)
    .map(codeOf)
    .find((name) => name !== undefined);
  const known = code === undefined ? undefined : (EXPLAINED[code] ?? explainedByPrefix(code));
  return new EgressError(
    'failed',
    `Could not fetch from ${host}: ${known?.text ?? `network error${code === undefined ? '' : ` (${code})`}`}`,
    known?.retryable ?? true,
    error,
  );
}

/** The first cause with a code of Node or undici; undefined for a refusal of the policy. */
export function codedCause(error: unknown): { readonly code: string; readonly message: string } | undefined {
  const found = causes(error);
  if (found.some((cause) => cause instanceof EgressError)) return undefined;
  for (const cause of found) {
    const code = codeOf(cause);
    if (code !== undefined) return { code, message: cause instanceof Error ? cause.message : '' };
  }
  return undefined;
}

/** Error, its causes, and the parts of an AggregateError (one for each tried address). */
function causes(error: unknown, depth = 0): unknown[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const deeper = 'cause' in error ? [error.cause, ...parts] : parts;
  return [error, ...deeper.flatMap((part) => causes(part, depth + 1))];
}

/** Brotli and OpenSSL have a code for each of many faults. */
function explainedByPrefix(code: string): (typeof EXPLAINED)[string] | undefined {
  if (code.startsWith('ERR__ERROR_FORMAT')) return EXPLAINED['Z_DATA_ERROR'];
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return { text: 'the TLS handshake failed', retryable: false };
  return undefined;
}

/** The parser of undici gives its errors no code, only a name. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error && error.name === 'HTTPParserError' ? error.name : undefined;
}
