import { WebSocket } from 'ws';
import type { Call, CallEvent, ClientFrame, LogEvent, Notice, ServerFrame } from '#contracts';
import { eventually } from './eventually.js';
import { historiesOf } from './invariants/client-histories.js';

/** Key of the tenant `default` in installations of a test's own. */
export const TEST_KEY = 'test-key-of-the-default-tenant';

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** An agent that speaks HTTP as its users' programs do. */
export class Agent {
  constructor(
    readonly url: string,
    readonly key: string = TEST_KEY,
  ) {}

  async request<T = Call>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /[+/]json/.test(response.headers.get('content-type') ?? '');
    const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : text;
    if (response.ok && method === 'POST' && path === '/v1/calls') this.remember(headers, parsed);
    return { status: response.status, headers: response.headers, body: parsed as T };
  }

  /** Records an accepted call and its key for the invariants. */
  private remember(headers: Record<string, string>, answer: unknown): void {
    const { id, sessionId } = answer as Call;
    const name = Object.keys(headers).find((header) => header.toLowerCase() === 'idempotency-key');
    historiesOf(this.url).answered({ key: this.key, callId: id, sessionId, idempotencyKey: name && headers[name] });
  }

  get<T = Call>(path: string, headers?: Record<string, string>): Promise<Answer<T>> {
    return this.request<T>('GET', path, undefined, headers);
  }

  submit(tool: string, args: unknown, more: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<Answer<Call>> {
    return this.request('POST', '/v1/calls', { tool, arguments: args, ...more }, headers);
  }

  /** Submits a call that has to be accepted: who waits for it elsewhere would wait in vain for one that was not. */
  async accepted(tool: string, args: unknown, more: Record<string, unknown> = {}): Promise<Call> {
    const { status, body } = await this.submit(tool, args, more);
    if (status !== 202) throw new Error(`a call of ${tool} was answered with ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Submits and waits for the end on the same request. A refused submission is a call too: it is read by its id. */
  async run(tool: string, args: unknown, more: Record<string, unknown> = {}): Promise<Call> {
    const answer = await this.submit(tool, args, more, { prefer: 'wait=30' });
    if (answer.status >= 400 && 'callId' in answer.body) return this.ended(String(answer.body.callId));
    return answer.body.status === 'ended' || answer.status >= 400 ? answer.body : this.ended(answer.body.id);
  }

  /** Long-polls until the call has ended. */
  async ended(id: string, deadlineMs?: number): Promise<Call> {
    return eventually(
      async () => {
        const { status, body } = await this.get(`/v1/calls/${id}?wait=10`);
        if (status !== 200) throw new Error(`GET ${id} answered ${status}: ${JSON.stringify(body)}`);
        return body.status === 'ended' ? body : undefined;
      },
      `call ${id} to end`,
      deadlineMs,
    );
  }

  async events(id: string): Promise<CallEvent[]> {
    const all: CallEvent[] = [];
    for (let query = ''; ;) {
      const { events, nextCursor } = (await this.get<{ events: CallEvent[]; nextCursor?: string }>(`/v1/calls/${id}/events${query}`)).body;
      all.push(...events);
      if (nextCursor === undefined) return all;
      query = `?cursor=${nextCursor}`;
    }
  }

  async stream(): Promise<Stream> {
    const stream = new Stream(this.url, this.key);
    await stream.opened;
    return stream;
  }
}

/** A WebSocket that remembers every frame, in order, with the time it came. */
export class Stream {
  readonly frames: { at: number; frame: ServerFrame }[] = [];
  readonly sent: Partial<ClientFrame>[] = [];
  readonly socket: WebSocket;
  readonly opened: Promise<void>;
  closed: { code: number; reason: string } | undefined;

  constructor(url: string, key: string) {
    historiesOf(url).socket(this);
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/stream`, { headers: { authorization: `Bearer ${key}` } });
    this.opened = new Promise((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('error', reject);
    });
    this.socket.on('message', (data: Buffer) =>
      this.frames.push({ at: performance.now(), frame: JSON.parse(data.toString()) as ServerFrame }),
    );
    this.socket.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }));
    this.socket.on('error', () => {});
  }

  send(frame: object): void {
    this.sent.push(frame);
    this.socket.send(JSON.stringify(frame));
  }

  /** Every event of a call that came on a subscription, batches taken apart, in order of arrival. */
  events(id?: string | number): { at: number; event: CallEvent; cursor: string }[] {
    return this.logEvents(id).flatMap(({ event, ...rest }) => ('callver' in event ? [{ event, ...rest }] : []));
  }

  /** The same for what happens beside calls. */
  notices(id?: string | number): Notice[] {
    return this.logEvents(id).flatMap(({ event }) => ('callver' in event ? [] : [event]));
  }

  private logEvents(id?: string | number): { at: number; event: LogEvent; cursor: string }[] {
    return this.frames.flatMap(({ at, frame }) => {
      if (!('id' in frame) || (id !== undefined && frame.id !== id)) return [];
      if (frame.op === 'event') return [{ at, event: frame.event, cursor: frame.cursor }];
      if (frame.op === 'events') return frame.events.map((event) => ({ at, event, cursor: frame.cursor }));
      return [];
    });
  }

  frame<O extends ServerFrame['op']>(op: O, id?: string | number): Promise<Extract<ServerFrame, { op: O }>> {
    const isIt = (frame: ServerFrame): frame is Extract<ServerFrame, { op: O }> =>
      frame.op === op && (id === undefined || ('id' in frame && frame.id === id));
    return eventually(() => this.frames.map(({ frame }) => frame).find(isIt), `a frame ${op}`);
  }

  close(): void {
    this.socket.terminate();
  }
}
