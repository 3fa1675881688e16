import type { EgressFetch } from '#sandbox';
import { withExactNumbers } from '#tool-sdk';
import { boundedBody } from '../bounded-body.js';
import type { AnswerReader, RequestId } from './answers/answer-reader.js';
import { rewrittenEvents } from './answers/event-rewriter.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

const TOO_LARGE = `the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`;

/**
 * The same fetch, whose answers fail when one message of them is too large; an event stream as a whole has no limit.
 * Answers with results of tools are read here: one that cannot be read becomes an error of the server, since the tool has
 * run by then.
 */
export function boundedFetch({ fetch }: EgressFetch, answers: AnswerReader): EgressFetch['fetch'] {
  return async (url, init) => {
    const id = typeof init?.body === 'string' ? answers.sent(parsed(init.body)) : undefined;
    const exact = typeof init?.body === 'string' ? { ...init, body: withExactNumbers(init.body) } : init;
    const response = await fetch(url, exact);
    const { status, statusText, headers } = response;
    const type = headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && response.body !== null) {
      const events = rewrittenEvents(response.body, { answers, id, maxBytes: MAX_MESSAGE_BYTES, signal: init?.signal });
      return new Response(ReadableStream.from(events), { status, statusText, headers });
    }
    // 202: the answer comes on another stream.
    if (id !== undefined && response.ok && response.status !== 202) return readAnswer(response, id, answers, init?.signal);
    return response.body === null ? response : new Response(response.body.pipeThrough(limiter()), { status, statusText, headers });
  };
}

async function readAnswer(
  response: Response,
  id: RequestId,
  answers: AnswerReader,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  const message = await messageIn(response, id, answers).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    return answers.unreadable(id, error instanceof SyntaxError ? 'it is not JSON' : 'it broke off');
  });
  const read = new Response(null, { headers: { 'content-type': 'application/json' } });
  return Object.defineProperty(read, 'json', { value: () => Promise.resolve(message) });
}

async function messageIn(response: Response, id: RequestId, answers: AnswerReader): Promise<unknown> {
  const body = await boundedBody(response, MAX_MESSAGE_BYTES);
  if (body === undefined) return answers.unreadable(id, TOO_LARGE);
  const message = answers.read(new TextDecoder().decode(body), id);
  return answers.isWaiting(id) ? answers.unreadable(id, 'it is another message') : message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function limiter(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error(TOO_LARGE));
      else controller.enqueue(chunk);
    },
  });
}
