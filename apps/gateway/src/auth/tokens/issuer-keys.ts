import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { ProblemError, type JwtIssuer } from '#contracts';

const TIMEOUT_MS = 5_000;
/** Least pause after a failed read, however many tokens arrive. */
const LEAST_PAUSE_MS = 1_000;
/** Most bytes of a response with keys: some hundred of them. */
const MAX_BYTES = 262_144;

/**
 * Public keys of an issuer. Read on first use, again every `refreshMs` in the background, and at once for a token with an
 * unknown key, at most every `cooldownMs`. After a failed read the known keys remain valid.
 *
 * The returned function throws a ProblemError `unavailable` while it is unknown whether the key is one of the issuer's.
 */
export function issuerKeys(rules: JwtIssuer, failed: (error: unknown) => void): JWTVerifyGetKey {
  const { jwks, jwksUrl = '', refreshMs, cooldownMs } = rules;
  if (jwks !== undefined) return createLocalJWKSet(jwks);
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    cooldownDuration: cooldownMs,
    cacheMaxAge: Infinity, // An issuer that is away must not take its keys along.
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: boundedFetch,
  });
  // Times by the monotonic clock: a step back of the wall clock would delay new keys by its length.
  let [triedAt, failedAt] = [-Infinity, -Infinity];
  const note = (error: unknown) => {
    failedAt = performance.now();
    failed(error);
  };
  const refresh = () => {
    if (performance.now() - triedAt < refreshMs) return;
    triedAt = performance.now();
    if (remote.jwks() !== undefined) void remote.reload().catch(note);
  };
  const known: JWTVerifyGetKey = async (header, token) => {
    const cachedKeys = remote.jwks();
    if (cachedKeys === undefined) throw keysUnavailable(rules);
    return createLocalJWKSet(cachedKeys)(header, token);
  };
  return async (header, token) => {
    refresh();
    const mustWait = performance.now() - failedAt < Math.max(cooldownMs, LEAST_PAUSE_MS);
    try {
      return await (mustWait ? known : remote)(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) throw mustWait ? keysUnavailable(rules) : error;
      if (error instanceof ProblemError || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      note(error);
      throw keysUnavailable(rules);
    }
  };
}

function keysUnavailable({ issuer, cooldownMs }: JwtIssuer): ProblemError {
  const why = `The keys of the issuer ${issuer} cannot be read now, and the token names none that is known here: try again later`;
  return new ProblemError('unavailable', why, { retryAfterMs: Math.max(cooldownMs, LEAST_PAUSE_MS) });
}

/** Limits the bytes of an issuer's response, so that it cannot fill the gateway's memory. */
export async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  let bytes = 0;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) controller.error(new Error(`The answer of ${url} has more than ${MAX_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(limiter), { status, headers });
}
