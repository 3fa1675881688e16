import { z } from 'zod';
import { ROUTES } from '#contracts';
import { backoffMs } from '../http/backoff.js';
import { sleep } from '../http/deadline.js';
import type { HttpTransport } from '../http/http-transport.js';
import { ToolyardError } from '../toolyard-error.js';
import { readServerFrame } from './server-frame.js';
import { SseParser, type SseItem } from './sse-parser.js';
import { isRetryable, type StreamReader, type StreamTransport, type SubscriptionFrame } from './stream-transport.js';

/** Silence after which the connection counts as dead: two missing comments, which the gateway sends every 15 seconds. */
const SILENCE_MS = 35_000;

/**
 * Server-sent events over `fetch`, one request for each reader: used without WebSocket, or if a proxy blocks it. Each event has
 * a cursor of its own.
 */
export class SseTransport implements StreamTransport {
  private readonly readers = new Map<StreamReader, AbortController>();

  /** `retries`: most retries if nothing has ever responded. */
  constructor(
    private readonly http: HttpTransport,
    private readonly retries: number,
  ) {}

  add(reader: StreamReader): void {
    const aborter = new AbortController();
    this.readers.set(reader, aborter);
    void this.serve(reader, aborter.signal);
  }

  remove(reader: StreamReader): void {
    this.readers.get(reader)?.abort();
    this.readers.delete(reader);
  }

  /** Idempotent. */
  close(): void {
    for (const [reader, aborter] of this.readers) {
      aborter.abort();
      reader.onStateChange({ state: 'closed' });
    }
    this.readers.clear();
  }

  /** Reconnects until the reader is removed. Never rejects: the reader gets an error that cannot be retried. */
  private async serve(reader: StreamReader, removed: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const error = await this.follow(reader, removed, () => (attempt = 0));
      if (removed.aborted) return;
      if (!isRetryable(error, attempt, this.retries)) {
        this.readers.delete(reader);
        return reader.fail(error);
      }
      const inMs = backoffMs(Math.max(1, attempt), Math.random(), error.problem?.retryAfterMs);
      reader.onStateChange({ state: 'reconnecting', error, attempt: Math.max(1, attempt), inMs });
      // Rejects only if the reader is removed.
      await sleep(inMs, removed).catch(() => {});
      if (removed.aborted) return;
    }
  }

  /** Runs one request until its stream ends. Resolves with the reason. */
  private async follow(reader: StreamReader, removed: AbortSignal, onSubscribed: () => void): Promise<ToolyardError> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const parser = new SseParser();
    let chunks: ReadableStreamDefaultReader<Uint8Array> | undefined;
    // Cancels besides the signal of the request: Node may lose the abort of an `AbortSignal.any`, and the socket would stay open.
    const stop = () => void chunks?.cancel().catch(() => {});
    for (const signal of [removed, silence.signal]) signal.addEventListener('abort', stop, { once: true });
    const silent = () => new ToolyardError('unreachable', 'Nothing was received on the event stream for 35 seconds');
    try {
      chunks = (await this.open(reader, AbortSignal.any([removed, silence.signal])))?.getReader();
      const decoder = new TextDecoder();
      for (let chunk = await chunks?.read(); chunk !== undefined && !chunk.done && !removed.aborted; chunk = await chunks?.read()) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        for (const item of parser.feed(decoder.decode(chunk.value, { stream: true }))) {
          const frame = removed.aborted ? undefined : frameOf(item);
          if (frame?.op === 'subscribed') onSubscribed();
          if (frame !== undefined) reader.take(frame);
        }
      }
      return silence.signal.aborted ? silent() : new ToolyardError('unreachable', 'The event stream ended');
    } catch (cause) {
      if (silence.signal.aborted) return silent();
      return cause instanceof ToolyardError ? cause : new ToolyardError('unreachable', 'The event stream broke off', undefined, { cause });
    } finally {
      clearTimeout(timer);
      removed.removeEventListener('abort', stop);
      stop();
    }
  }

  private open({ filter, cursor }: StreamReader, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const input = { query: filter, headers: { 'Last-Event-ID': cursor }, signal, retry: false } as const;
    return this.http.stream(ROUTES.streamEvents, input, 'text/event-stream');
  }
}

const Facts = z.record(z.string(), z.unknown());

/** Equivalent frame of a WebSocket. */
function frameOf(item: SseItem): SubscriptionFrame | undefined {
  if (item.kind === 'comment') {
    const [, cursor] = /^from (\S+)$/.exec(item.text) ?? [];
    return cursor === undefined ? undefined : { op: 'subscribed', id: 0, cursor };
  }
  const frame = readServerFrame(asFrame(item.event, item.id, JSON.parse(item.data)));
  return frame?.op === 'events' || frame?.op === 'gap' || frame?.op === 'resync' ? frame : undefined;
}

function asFrame(event: string, cursor: string, value: unknown): unknown {
  if (event === 'gap') return { ...Facts.parse(value), op: 'gap', id: 0 };
  if (event === 'resync') return { ...Facts.parse(value), op: 'resync', id: 0 };
  return { op: 'event', id: 0, event: value, cursor };
}
