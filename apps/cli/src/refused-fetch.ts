import { ToolyardError } from '#client';

/**
 * `fetch` for a person who waits: a connection that is refused before the gateway has ever answered is an error at once, since nothing
 * listens there. Once it has answered, a refusal is left to the client, which tries again: the gateway may be restarting.
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

/** `fetch` of Node says only "fetch failed"; its cause has the code. */
function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
}
