import { z } from 'zod';
import { backoffMs } from '../http/backoff.js';
import type { HttpTransport } from '../http/http-transport.js';
import { ToolyardError } from '../toolyard-error.js';
import { SseParser, type SseItem } from './sse-parser.js';
import { readServerFrame } from './server-frame.js';
import { isRetryable, type SubscriptionFrame, type StreamTransport, type StreamReader } from './stream-transport.js';

/** The gateway says "still here" every 15 seconds; two of these missed, and the connection is dead. */
const SILENCE_MS = 35_000;

/**
 * Server-sent events over `fetch`, one request a reader: where there is no WebSocket, or a proxy lets none through.
 * Each event has its own cursor here.
 */
export class SseTransport implements StreamTransport {
  private readonly readers = new Map<StreamReader, AbortController>();

  constructor(private readonly http: HttpTransport) {}

  add(reader: StreamReader): void {
    const leaving = new AbortController();
    this.readers.set(reader, leaving);
    void this.serve(reader, leaving.signal);
  }

  remove(reader: StreamReader): void {
    this.readers.get(reader)?.abort();
    this.readers.delete(reader);
  }

  /** Idempotent. */
  close(): void {
    for (const [reader, leaving] of this.readers) {
      leaving.abort();
      reader.onStateChange({ state: 'closed' });
    }
    this.readers.clear();
  }

  /** Never rejects: what no repetition cures is told to the reader. */
  private async serve(reader: StreamReader, leaving: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const error = await this.follow(reader, leaving, () => (attempt = 0));
      if (leaving.aborted) return;
      if (!isRetryable(error)) {
        this.readers.delete(reader);
        return reader.fail(error);
      }
      const inMs = backoffMs(Math.max(1, attempt), Math.random(), error.problem?.retryAfterMs);
      reader.onStateChange({ state: 'reconnecting', error, attempt: Math.max(1, attempt), inMs });
      await pauseOrLeave(inMs, leaving);
      if (leaving.aborted) return;
    }
  }

  /** One request, until it ends; resolves with why it did. */
  private async follow(reader: StreamReader, leaving: AbortSignal, wentWell: () => void): Promise<ToolyardError> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const text = new SseParser();
    try {
      const chunks = (await this.open(reader, AbortSignal.any([leaving, silence.signal])))?.getReader();
      const decoder = new TextDecoder();
      for (let chunk = await chunks?.read(); chunk !== undefined && !chunk.done && !leaving.aborted; chunk = await chunks?.read()) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        for (const item of text.feed(decoder.decode(chunk.value, { stream: true }))) {
          const frame = leaving.aborted ? undefined : frameOf(item);
          if (frame?.op === 'subscribed') wentWell();
          if (frame !== undefined) reader.take(frame);
        }
      }
      return new ToolyardError('unreachable', 'The event stream ended');
    } catch (cause) {
      if (silence.signal.aborted) return new ToolyardError('unreachable', 'Nothing was heard on the event stream for 35 seconds');
      return cause instanceof ToolyardError ? cause : new ToolyardError('unreachable', 'The event stream broke off', undefined, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  private open({ filter, cursor }: StreamReader, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const headers: Record<string, string> = cursor === undefined ? {} : { 'last-event-id': cursor };
    return this.http.endless({ method: 'GET', path: '/v1/events', query: filter, headers, signal, repeatable: false }, 'text/event-stream');
  }
}

const Facts = z.record(z.string(), z.unknown());

/** As the frame that a WebSocket would have brought. */
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

function pauseOrLeave(ms: number, leaving: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      leaving.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    leaving.addEventListener('abort', go, { once: true });
  });
}
