import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { errorAnswer, isSessionLost, lostAnswer, reasonOf } from './error-answer.js';
import { OpenRequests } from './open-requests.js';
import { SpacedAnswers } from './spaced-answers.js';
import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { parseExactJson } from '#contracts';

export interface StdioProxyOptions {
  /** Address of the gateway. */
  readonly url: string;
  readonly apiKey: string;
  /** Added to the `_meta` of each `tools/call` that does not say it itself. */
  readonly callMeta: Readonly<Record<string, string>>;
  /** Prints notes for people; the standard output is only for messages. */
  readonly note: (text: string) => void;
}

interface Pending {
  readonly transport: StreamableHTTPClientTransport;
  readonly modern: boolean;
  readonly aborter: AbortController;
}

/** The stream of notifications is opened again for as long as the proxy runs. */
const RECONNECTION = {
  initialReconnectionDelay: 500,
  reconnectionDelayGrowFactor: 1.5,
  maxReconnectionDelay: 10_000,
  maxRetries: Number.MAX_SAFE_INTEGER,
};
const END_MS = 1000;
/** A request that is open for as long as the client is. */
const SUBSCRIPTION = 'subscriptions/listen';
/** How long requests that were made before the input ended may still take. */
const LAST_ANSWERS_MS = 10_000;
/** The id of an `initialize` of the proxy's own. */
const RENEWAL = 'toolyard:renewal';

/**
 * The MCP endpoint of a gateway on standard input and output. Messages pass unread, in both directions, but for: numbers
 * that a double does not hold, which become texts of their digits; `_meta` of calls; cancellation, which since 2026-07-28
 * is a closed response over HTTP; and `initialize`, which is repeated when the gateway has lost the session. A request that
 * cannot be delivered gets an error for an answer; the next one tries again.
 */
export class StdioProxy {
  /** Ends after the answers to all requests before the end of the standard input, with which the transport closes. */
  private readonly input = process.stdin.pipe(exactLines(), { end: false });
  private readonly stdio = new StdioServerTransport(this.input);
  private readonly answers = new SpacedAnswers((message) => {
    void this.stdio.send(message).catch(() => {});
    if (isAnswer(message) && message.id !== undefined) this.open.end(message.id);
  });
  private readonly open = new OpenRequests();
  private readonly pending = new Map<RequestId, Pending>();
  private transport: StreamableHTTPClientTransport;
  private handshake: JSONRPCRequest | undefined;
  private renewal: { readonly done: Promise<void>; readonly answered: (message: JSONRPCMessage) => void } | undefined;
  private lastNote: string | undefined;

  constructor(private readonly options: StdioProxyOptions) {
    this.transport = this.openTransport();
  }

  /** Resolves when the client has closed its end, or `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { stdio } = this;
    /* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no EventTarget; these are its only hooks */
    const closed = new Promise<void>((resolve) => (stdio.onclose = resolve));
    stdio.onmessage = (message) => void this.fromClient(message);
    stdio.onerror = (error) => this.note(`not a message of MCP: ${error.message}`);
    /* oxlint-enable unicorn/prefer-add-event-listener */
    await this.transport.start();
    await stdio.start();
    signal.addEventListener('abort', () => void stdio.close(), { once: true });
    process.stdin.once('end', () => setImmediate(() => void this.endInput(signal)));
    await closed;
    process.stdin.unpipe(this.input).pause();
    await this.end();
  }

  private async endInput(signal: AbortSignal): Promise<void> {
    await this.open.allAnswered(LAST_ANSWERS_MS, signal);
    this.input.end();
  }

  private async fromClient(message: JSONRPCMessage): Promise<void> {
    const opening = this.handshake?.id;
    if (isJSONRPCRequest(message)) {
      if (message.method !== SUBSCRIPTION) this.open.add(message.id);
      if (isInitializeRequest(message)) this.handshake = { ...message };
      // The session of the others begins with the answer.
      else await this.open.answered(opening);
      return this.request(message);
    }
    await this.open.answered(opening);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled' && this.closed(message.params)) return;
    await this.transport.send(message).catch(() => {});
  }

  private async request(message: JSONRPCRequest, isRepeated = false): Promise<void> {
    const { transport } = this;
    const aborter = new AbortController();
    this.pending.set(message.id, { transport, modern: isModern(message), aborter });
    try {
      const onRequestStreamEnd = () => this.lost(message.id, transport);
      await transport.send(withCallMeta(message, this.options.callMeta), { requestSignal: aborter.signal, onRequestStreamEnd });
    } catch (error) {
      if (aborter.signal.aborted) return;
      const renewed = !isRepeated && isSessionLost(error) && !isModern(message) && (await this.renew(transport));
      if (renewed) return this.request(message, true);
      this.toClient(errorAnswer(message.id, error, this.options.url));
    }
  }

  /** Closes the response of a request that the client cancels, which gets no answer. False: the gateway has to be asked to cancel. */
  private closed(params: Readonly<Record<string, unknown>> | undefined): boolean {
    const id = params?.['requestId'];
    if (typeof id !== 'string' && typeof id !== 'number') return false;
    const request = this.pending.get(id);
    if (request === undefined) return false;
    this.settle(id);
    this.open.end(id);
    request.aborter.abort();
    return request.modern;
  }

  private fromGateway(message: JSONRPCMessage, transport: StreamableHTTPClientTransport): void {
    this.lastNote = undefined;
    if (isAnswer(message) && message.id === RENEWAL) return this.renewal?.answered(message);
    if (isJSONRPCResultResponse(message) && message.id === this.handshake?.id) useVersion(transport, message.result);
    this.toClient(message);
  }

  private toClient(message: JSONRPCMessage): void {
    if (isAnswer(message) && message.id !== undefined) this.settle(message.id);
    this.answers.send(message);
  }

  private lost(id: RequestId, transport: StreamableHTTPClientTransport): void {
    if (this.pending.get(id)?.transport === transport) this.toClient(lostAnswer(id, this.options.url));
  }

  private settle(id: RequestId): void {
    const transport = this.pending.get(id)?.transport;
    this.pending.delete(id);
    if (transport !== undefined) this.retire(transport);
  }

  /** Closes a transport of a lost session when its last request is answered. */
  private retire(transport: StreamableHTTPClientTransport): void {
    if (transport === this.transport || [...this.pending.values()].some((request) => request.transport === transport)) return;
    void transport.close();
  }

  /** Opens a session like the one that the gateway has lost, once for all that need it. False: that failed. */
  private async renew(lost: StreamableHTTPClientTransport): Promise<boolean> {
    const { handshake } = this;
    if (handshake === undefined) return false;
    if (this.transport === lost) {
      this.renewal = this.startRenewal({ ...handshake, id: RENEWAL });
      this.retire(lost);
    }
    return (this.renewal?.done ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
  }

  private startRenewal(handshake: JSONRPCRequest): NonNullable<StdioProxy['renewal']> {
    const transport = (this.transport = this.openTransport());
    let answered: (message: JSONRPCMessage) => void = () => {};
    const answer = new Promise<JSONRPCMessage>((resolve) => (answered = resolve));
    const run = async () => {
      await transport.start();
      await transport.send(handshake);
      const message = await answer;
      if (!isJSONRPCResultResponse(message)) throw new Error('the gateway refused `initialize`');
      useVersion(transport, message.result);
      await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    };
    return { done: run(), answered };
  }

  private openTransport(): StreamableHTTPClientTransport {
    const headers = { authorization: `Bearer ${this.options.apiKey}` };
    const transport = new StreamableHTTPClientTransport(new URL('mcp', `${this.options.url.replace(/\/+$/, '')}/`), {
      requestInit: { headers },
      reconnectionOptions: RECONNECTION,
      fetch: fetchResumable,
    });
    /* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no EventTarget; these are its only hooks */
    transport.onmessage = (message) => this.fromGateway(message, transport);
    transport.onerror = (error) => {
      this.note(reasonOf(error));
      if (isSessionLost(error) && transport === this.transport) void this.renew(transport);
    };
    /* oxlint-enable unicorn/prefer-add-event-listener */
    return transport;
  }

  /** The same trouble is shown once, until something works again. */
  private note(text: string): void {
    if (text !== this.lastNote) this.options.note(`toolyard mcp: ${text}`);
    this.lastNote = text;
  }

  private async end(): Promise<void> {
    const { transport } = this;
    const late = setTimeout(() => void transport.close(), END_MS);
    await transport.terminateSession().catch(() => {});
    clearTimeout(late);
    for (const open of new Set([transport, ...[...this.pending.values()].map((request) => request.transport)])) await open.close();
  }
}

/**
 * A response that the gateway cannot go on with has ended: 405 tells the transport so. Any other refusal makes it ask again
 * for as long as the proxy runs.
 */
async function fetchResumable(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const isResumption = new Headers(init?.headers).has('last-event-id');
  return isResumption && response.status === 400 ? new Response(null, { status: 405 }) : response;
}

const isAnswer = (message: JSONRPCMessage) => isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);

/** The revision that both sides agreed on. Later requests name it. */
function useVersion(transport: StreamableHTTPClientTransport, result: Readonly<Record<string, unknown>>): void {
  const { protocolVersion } = result;
  if (typeof protocolVersion === 'string') transport.setProtocolVersion(protocolVersion);
}

/** True for a revision since 2026-07-28: each request contains its revision. */
function isModern({ params }: JSONRPCRequest): boolean {
  return typeof params?._meta?.[PROTOCOL_VERSION_META_KEY] === 'string';
}

/** The request, with what `meta` says and its own `_meta` does not, if it calls a tool. */
function withCallMeta(message: JSONRPCRequest, meta: Readonly<Record<string, string>>): JSONRPCRequest {
  if (message.method !== 'tools/call') return message;
  return { ...message, params: { ...message.params, _meta: { ...meta, ...message.params?._meta } } };
}

/** Lines of JSON with texts of digits for numbers that a double does not hold: the transport behind it would round them. */
function exactLines(): Transform {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      done(null, lines.map((line) => `${exact(line)}\n`).join(''));
    },
    flush: (done) => done(null, rest),
  });
}

function exact(line: string): string {
  try {
    return JSON.stringify(parseExactJson(line));
  } catch {
    return line;
  }
}
