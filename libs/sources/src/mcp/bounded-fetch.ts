import type { EgressFetch } from '#sandbox';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

const NEWLINE = 10;

/** The same fetch, whose answers fail when one message of them is too large. An event stream as a whole has no limit. */
export function boundedFetch({ fetch }: EgressFetch): EgressFetch['fetch'] {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limiter(isStream)), { status, statusText, headers });
  };
}

function limiter(resetsAtLines: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const last = resetsAtLines ? chunk.lastIndexOf(NEWLINE) : -1;
      bytes = last === -1 ? bytes + chunk.length : chunk.length - last - 1;
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error(`the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
