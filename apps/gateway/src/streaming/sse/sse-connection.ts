import type { ServerResponse } from 'node:http';
import type { ProblemError } from '#contracts';
import type { Delivery, Subscription } from '#event-log';
import { telemetry } from '#observability';
import { SocketOutbox, type DeliveryLimits } from '../delivery/socket-outbox.js';
import { SseSubscription, sseComment, sseResync, sseRetry } from './sse-subscription.js';

export const RETRY_MS = 2000;
const HEARTBEAT_MS = 15_000;
/** Time for a client to read pending data after the end of the stream. */
const CLOSE_GRACE_MS = 2000;

/** One open event stream: receives a subscription's deliveries, ends for a reason, and cleans up once. */
export class SseConnection {
  private readonly sink = new SseSubscription();
  private readonly outbox: SocketOutbox;
  private heartbeat: NodeJS.Timeout | undefined;
  private subscription: Subscription | undefined;
  private closedFor: string | undefined;

  /**
   * `endAfterCall`: the stream is about one call and ends after its End. `refusal` is called before each delivery. Writes
   * nothing and needs no end before `open`.
   */
  constructor(
    private readonly response: ServerResponse,
    private readonly endAfterCall: boolean,
    limits: DeliveryLimits,
    private readonly refusal: () => ProblemError | undefined,
  ) {
    this.outbox = new SocketOutbox(wireOf(response), (why) => this.end(why, `too slow (${why}); go on with Last-Event-ID`), limits);
  }

  /** Begins to write, after the head. */
  open(subscription: Subscription): void {
    this.subscription = subscription;
    this.heartbeat = setInterval(() => this.outbox.send(sseComment('still here')), HEARTBEAT_MS);
    this.response.once('close', () => this.dispose('client'));
    this.response.on('error', () => {});
    telemetry.socketOpened.emit({ kind: 'sse' });
    this.outbox.send(sseRetry(RETRY_MS));
  }

  deliver(delivery: Delivery): void {
    const problem = this.refusal();
    if (problem !== undefined) return this.refuse(problem);
    switch (delivery.kind) {
      case 'started':
        return this.outbox.send(sseComment(`from ${delivery.cursor}`));
      case 'events':
        this.outbox.deliver(this.sink, delivery.batch);
        if (this.endAfterCall && delivery.batch.events.at(-1)?.type === 'call.end') void this.finish();
        return;
      case 'resync':
        this.outbox.send(sseResync(delivery.reason, delivery.snapshot, delivery.cursor));
        if (this.endAfterCall && delivery.snapshot.every(({ status }) => status === 'ended')) void this.finish();
        return;
      case 'failed':
        return this.end(
          'failed',
          delivery.problem.code === 'call_lost'
            ? `call_lost: ${delivery.problem.detail}`
            : `${delivery.problem.code}: go on with Last-Event-ID`,
        );
      default:
        return delivery satisfies never;
    }
  }

  writable(): Promise<void> {
    return this.outbox.writable();
  }

  /** Ends the stream of a key that may no longer read. A client that reconnects gets the problem as its response. */
  refuse({ code, detail }: ProblemError): void {
    this.end(code, `${code}: ${detail}`);
  }

  /** Ends the stream with a comment; the client reconnects by itself and continues after its last id. Idempotent. */
  end(why: string, comment: string): void {
    if (this.closedFor !== undefined) return;
    this.dispose(why);
    this.response.end(sseRetry(RETRY_MS) + sseComment(comment));
    const cut = setTimeout(() => this.response.destroy(), CLOSE_GRACE_MS);
    this.response.once('close', () => clearTimeout(cut));
  }

  /** Ends the stream after the last event and all waiting ones. */
  private async finish(): Promise<void> {
    this.subscription?.close();
    await this.outbox.writable();
    this.dispose('call_ended');
    this.response.end();
  }

  private dispose(why: string): void {
    if (this.closedFor !== undefined) return;
    this.closedFor = why;
    clearInterval(this.heartbeat);
    this.subscription?.close();
    this.outbox.close();
    telemetry.socketClosed.emit({ kind: 'sse', why });
  }
}

function wireOf(response: ServerResponse) {
  return {
    get bufferedBytes() {
      return response.writableLength;
    },
    send: (frame: string | Buffer, flushed: () => void) => {
      if (response.writableEnded || response.destroyed) return flushed();
      response.write(frame, flushed);
    },
  };
}
