import { ModelFailure } from './model.port.js';

/** The most bytes of one answer of a model's server. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

/**
 * `fetch` that follows no redirect, so that the key goes to the declared host only, and that ends an answer which is too
 * large. Rejects with a `ModelFailure`.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' }).catch((error: unknown) => {
    if (init?.signal?.aborted === true) throw error;
    throw new ModelFailure('its server is not reachable', true);
  });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new ModelFailure(`expected an answer, received a redirect (${response.status}); redirects are not followed`, false);
  }
  if (response.body === null) return response;
  let bytes = 0;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_ANSWER_BYTES) controller.error(new ModelFailure(`expected an answer of at most ${MAX_ANSWER_BYTES} bytes`, false));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(bounded, { status: response.status, statusText: response.statusText, headers: response.headers });
};
