import { TEST_KEY } from './test-cluster.js';

export interface SseMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Reads a server-sent event stream until it ends or `enough` returns true; then it closes the connection. */
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

/** Complete messages received so far. */
export function messagesOf(text: string): SseMessage[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.map(messageOf).filter(({ data }) => data !== '');
}

/** Message of a block of `field: value` lines; comments and retry hints have no data. */
function messageOf(block: string): SseMessage {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      .join('\n');
  return { id: field('id'), event: field('event') || 'message', data: field('data') };
}

/** An event stream that is read on while a test does other things. */
export interface OpenSse {
  /** Everything that came, as it came. */
  text(): string;
  /** True once the server has ended it. */
  ended(): boolean;
  close(): void;
}

export async function openSse(url: string, key: string): Promise<OpenSse> {
  const closing = new AbortController();
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` };
  const response = await fetch(url, { headers, signal: closing.signal });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const { body } = response;
  let text = '';
  let ended = false;
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
    ended = true;
  };
  read().catch(() => {});
  return { text: () => text, ended: () => ended, close: () => closing.abort() };
}
