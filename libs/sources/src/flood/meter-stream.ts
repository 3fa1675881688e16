import { setImmediate as turn } from 'node:timers/promises';
import type { EgressFetch } from '#sandbox';
import type { MessageBudget } from './message-budget.js';

/** Lines after which the event loop gets a turn, and no input is read meanwhile. */
const LINES_A_TURN = 64;
const NEWLINE = 10;

/** The same bytes, within a budget and in pieces that leave turns to others. @throws MessageFlood */
export async function* meterStream(stream: AsyncIterable<Uint8Array>, budget: MessageBudget): AsyncGenerator<Uint8Array> {
  let lines = 0;
  for await (const chunk of stream) {
    for (let start = 0; start < chunk.length;) {
      const piece = linesOf(chunk, start, LINES_A_TURN - lines);
      budget.spend(piece.lines, piece.end - start);
      yield chunk.subarray(start, piece.end);
      start = piece.end;
      lines += piece.lines;
      if (lines < LINES_A_TURN) continue;
      lines = 0;
      await turn();
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

/** Up to `most` lines from `start` on; the rest of the chunk if it has fewer. */
function linesOf(chunk: Uint8Array, start: number, most: number): { readonly lines: number; readonly end: number } {
  let lines = 0;
  let end = start;
  while (lines < most) {
    const newline = chunk.indexOf(NEWLINE, end);
    if (newline === -1) return { lines, end: chunk.length };
    lines += 1;
    end = newline + 1;
  }
  return { lines, end };
}
