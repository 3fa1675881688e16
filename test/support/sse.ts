import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { TEST_KEY } from './toolyard.js';

/** Reads a server-sent event stream until it ends or `enough` says so; leaves by aborting the request, as a lost connection does. */
export async function readSse(
  url: string,
  options: { lastEventId?: string; enough?: (messages: readonly EventSourceMessage[]) => boolean; key?: string } = {},
): Promise<EventSourceMessage[]> {
  const abort = new AbortController();
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const response = await fetch(url, {
    signal: abort.signal,
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${options.key ?? TEST_KEY}`,
      ...(options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId }),
    },
  });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (options.enough?.(messages)) {
      abort.abort();
      break;
    }
  }
  return messages;
}
