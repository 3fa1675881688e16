import {
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  type JSONRPCMessage,
  type SSEClientTransportOptions,
} from '@modelcontextprotocol/client';
import { withExactNumbers } from '#tool-sdk';
import type { EgressFetch } from '#sandbox';
import { boundedBody } from '../bounded-body.js';
import type { AnswerReader } from './answers/answer-reader.js';
import { rewrittenEvents } from './answers/event-rewriter.js';
import { REFUSAL_BYTES } from './bounded-fetch.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

/** A server names the address for messages at once. */
const ENDPOINT_MS = 5_000;

/**
 * HTTP with SSE, of revision 2024-11-05: messages are sent to an address that the server names, and all answers come on one
 * stream. Its end is the end of the connection: the server forgets the client with it.
 */
export class SseTransport extends SSEClientTransport {
  /** Called when the stream has ended, or the server does not know it any more. */
  onsessiongone: () => void = () => {};
  private closing: Promise<void> | undefined;

  constructor(
    url: URL,
    options: SSEClientTransportOptions & Pick<EgressFetch, 'fetch'>,
    private readonly answers: AnswerReader,
  ) {
    super(url, { ...options, fetch: (target, init) => this.fetched(options.fetch, target, init) });
  }

  override async start(): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const named = new Promise<never>((_resolve, reject) => {
      late = setTimeout(() => reject(new Error('its event stream named no address for messages')), ENDPOINT_MS);
    });
    await Promise.race([super.start(), named]).finally(() => clearTimeout(late));
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    this.answers.sent(message);
    await super.send(message);
  }

  override close(): Promise<void> {
    return (this.closing ??= super.close());
  }

  private async fetched(fetch: EgressFetch['fetch'], url: string | URL, init?: RequestInit): Promise<Response> {
    const body = typeof init?.body === 'string' ? withExactNumbers(init.body) : init?.body;
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    const { ok, status, statusText, headers } = response;
    if (init?.method === 'POST') return ok ? response : this.refused(response);
    if (!ok || response.body === null) {
      await response.body?.cancel();
      return new Response(null, { status, statusText, headers });
    }
    return new Response(ReadableStream.from(this.events(response.body, init?.signal)), { status, statusText, headers });
  }

  /** @throws SdkHttpError A server that does not know the session has none of its calls either. */
  private async refused(response: Response): Promise<never> {
    const { status, statusText } = response;
    const text = Buffer.from((await boundedBody(response, REFUSAL_BYTES)) ?? []).toString();
    if (status === 404) this.lost();
    throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, { status, statusText, text });
  }

  /** Passes on single events: the client handles a notification a moment after its arrival, and an answer at once. */
  private async *events(body: AsyncIterable<Uint8Array>, signal: AbortSignal | null | undefined): AsyncGenerator<Uint8Array> {
    const { answers } = this;
    try {
      for await (const bytes of rewrittenEvents(body, { answers, id: undefined, maxBytes: MAX_MESSAGE_BYTES, signal }))
        for (const event of Buffer.from(bytes)
          .toString()
          .split(/(?<=\n\n)/))
          yield Buffer.from(event);
    } catch (error) {
      // Request answered beyond the limit: its effect may have happened, so no waiting call may run again.
      if (error instanceof RangeError) for (const id of answers.waiting) this.onmessage?.(answers.unreadable(id, error.message));
    } finally {
      this.lost();
    }
  }

  /** Another connection takes its place before the calls under way end with it. */
  private lost(): void {
    if (this.closing !== undefined) return;
    this.onsessiongone();
    setImmediate(() => void this.close());
  }
}
