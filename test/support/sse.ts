import { TEST_KEY } from './toolyard.js';

export interface SseMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Reads a server-sent event stream until it ends or `enough` says so; leaving early drops the connection. */
export async function readSse(
  url: string,
  options: { lastEventId?: string; enough?: (messages: readonly SseMessage[]) => boolean; key?: string } = {},
): Promise<SseMessage[]> {
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${options.key ?? TEST_KEY}`,
      ...(options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId }),
    },
  });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);

  const messages: SseMessage[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    messages.push(...blocks.map(messageOf).filter((message) => message.data !== ''));
    if (options.enough?.(messages)) break;
  }
  return messages;
}

/** One block of `field: value` lines; comments and retry hints come out without data. */
function messageOf(block: string): SseMessage {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      .join('\n');
  return { id: field('id'), event: field('event') || 'message', data: field('data') };
}
