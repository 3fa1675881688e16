import { ToolyardError } from '#client';

/**
 * Wraps `fetch`: a refused connection is an error at once while the gateway has never answered, since nothing listens there.
 * After its first response refusals are left to the client, which retries: the gateway may be restarting.
 */
export function fetchOf(baseUrl: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  let answered = false;
  return async (input, init) => {
    try {
      const response = await fetch(input, init);
      answered = true;
      return response;
    } catch (cause) {
      if (answered || codeOf(cause) !== 'ECONNREFUSED') throw cause;
      throw new ToolyardError('unreachable', `No answer from ${baseUrl}: the connection was refused (ECONNREFUSED)`, undefined, { cause });
    }
  };
}

/** The `fetch` of Node throws "fetch failed" and has the code in `cause`. */
function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
}
