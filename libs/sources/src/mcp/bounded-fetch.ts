import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { EgressFetch } from '#sandbox';
import { withExactNumbers } from '#tool-sdk';
import { boundedBody } from '../bounded-body.js';
import type { AnswerReader, RequestId } from './answers/answer-reader.js';
import { eventData, rewrittenEvents } from './answers/event-rewriter.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

const TOO_LARGE = `the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`;
/** Most bytes of an answer that refuses a message. */
export const REFUSAL_BYTES = 65_536;
const EVENTS = 'text/event-stream';

/**
 * The same fetch, whose answers fail when one message of them is too large; an event stream as a whole has no limit, and of
 * other bodies only the beginning is read.
 * Answers are read here: one that cannot be read becomes an error of the server, since a tool has run by then.
 */
export function boundedFetch({ fetch }: EgressFetch, answers: AnswerReader): EgressFetch['fetch'] {
  return async (url, init) => {
    const id = typeof init?.body === 'string' ? answers.sent(parsed(init.body)) : undefined;
    const exact = typeof init?.body === 'string' ? { ...init, body: withExactNumbers(init.body) } : init;
    const response = await fetch(url, exact);
    const { status, statusText, headers } = response;
    const type = (headers.get('content-type') ?? '').trim().toLowerCase();
    if (type.startsWith(EVENTS) && response.ok && response.body !== null) {
      const resumedFrom = new Headers(init?.headers).get('last-event-id') ?? undefined;
      const events = rewrittenEvents(response.body, { answers, id, maxBytes: MAX_MESSAGE_BYTES, signal: init?.signal, resumedFrom });
      return new Response(ReadableStream.from(events), { status, statusText, headers });
    }
    if (id !== undefined && response.ok) return readAnswer(response, id, answers, init?.signal);
    return response.body === null ? response : new Response(response.body.pipeThrough(beginning()), { status, statusText, headers });
  };
}

/** 202 without a message: the answer comes on another stream. */
async function readAnswer(
  response: Response,
  id: RequestId,
  answers: AnswerReader,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  const messages = await messagesIn(response, id, answers).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    const why = error instanceof RangeError ? error.message : error instanceof SyntaxError ? 'it is not JSON' : 'it broke off';
    return [answers.unreadable(id, why)];
  });
  if (messages === undefined) return new Response(null, { status: 202, headers: response.headers });
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  const read = new Response(null, { headers });
  return Object.defineProperty(read, 'json', { value: () => Promise.resolve(messages) });
}

async function messagesIn(response: Response, id: RequestId, answers: AnswerReader): Promise<JSONRPCMessage[] | undefined> {
  const body = await boundedBody(response, MAX_MESSAGE_BYTES);
  if (body === undefined) return [answers.unreadable(id, TOO_LARGE)];
  const text = new TextDecoder().decode(body);
  if (response.status === 202 && !text.trim().startsWith('{')) return undefined;
  const messages = eventData(text).flatMap((data) => answers.read(data, id));
  return answers.isWaiting(id) && response.status !== 202 ? [...messages, answers.unreadable(id, 'it is another message')] : messages;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Beginning of a body that is no answer: the client parses the JSON of refusals. */
function beginning(): TransformStream<Uint8Array, Uint8Array> {
  let left = REFUSAL_BYTES;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}
