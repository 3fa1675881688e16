import { EgressError, type EgressFetch } from '#sandbox';
import { ModelFailure } from './model.port.js';

/** Most bytes of one response of a model's server. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

/**
 * `fetch` without redirects, so that the key goes to the declared host only, and with a limit for the response. Rejects with a
 * `ModelFailure`.
 */
export function boundedFetch(guarded: EgressFetch['fetch']): typeof fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : input;
    const response = await guarded(url, init).catch((error: unknown) => {
      if (init?.signal?.aborted === true) throw error;
      const refused = refusalOf(error);
      throw refused === undefined ? new ModelFailure('its server is not reachable', true) : new ModelFailure(refused.message, false);
    });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new ModelFailure(`expected an answer, received a redirect (${response.status}); redirects are not followed`, false);
    }
    if (response.body === null) return response;
    const bounded = response.body.pipeThrough(limiter());
    return new Response(bounded, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function limiter(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) controller.error(new ModelFailure(`expected an answer of at most ${MAX_ANSWER_BYTES} bytes`, false));
      else controller.enqueue(chunk);
    },
  });
}

/** Error of the egress policy, which `fetch` wraps. */
function refusalOf(error: unknown): EgressError | undefined {
  for (let it = error, depth = 0; it instanceof Error && depth < 5; it = it.cause, depth += 1) if (it instanceof EgressError) return it;
  return undefined;
}
