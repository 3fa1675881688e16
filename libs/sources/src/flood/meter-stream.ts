import type { EgressFetch } from '#sandbox';
import type { MessageBudget } from '#timing';

/** Most lines and bytes of a piece, which is handled without a turn for others. */
const PIECE_LINES = 64;
const PIECE_BYTES = 4_096;
const NEWLINE = 10;

/** The same bytes, within a budget and in pieces that leave turns to others. @throws MessageFlood */
export async function* meterStream(stream: AsyncIterable<Uint8Array>, budget: MessageBudget): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    for (let start = 0; start < chunk.length;) {
      const { lines, bytes } = pieceOf(chunk.subarray(start, start + PIECE_BYTES));
      budget.spend(lines, bytes);
      yield chunk.subarray(start, start + bytes);
      start += bytes;
      await budget.turn();
    }
  }
}

/** The same fetch, whose event streams are metered. */
export function meteredFetch(guarded: EgressFetch, budget: MessageBudget): EgressFetch {
  return {
    close: () => guarded.close(),
    fetch: async (url, init) => {
      const response = await guarded.fetch(url, init);
      const { body, status, statusText, headers } = response;
      const isStream = /^\s*text\/event-stream/i.test(headers.get('content-type') ?? '');
      if (!isStream || body === null) return response;
      return new Response(ReadableStream.from(meterStream(body, budget)), { status, statusText, headers });
    },
  };
}

/** Its first lines; all of it if it has fewer. */
function pieceOf(part: Uint8Array): { readonly lines: number; readonly bytes: number } {
  let bytes = 0;
  for (let lines = 0; lines < PIECE_LINES; lines += 1) {
    const newline = part.indexOf(NEWLINE, bytes);
    if (newline === -1) return { lines, bytes: part.length };
    bytes = newline + 1;
  }
  return { lines: PIECE_LINES, bytes };
}
