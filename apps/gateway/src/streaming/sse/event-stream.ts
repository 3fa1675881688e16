import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, type EventFilter, type Principal } from '#contracts';
import { EventHub, type CallSnapshot } from '#event-log';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { OpenSockets } from '../../auth/open-sockets.service.js';
import { DELIVERY_LIMITS } from '../delivery/socket-outbox.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { SseConnection } from './sse-connection.js';

export interface StreamEventsRequest {
  readonly principal: Principal;
  readonly filter: EventFilter;
  /** `Last-Event-ID`: an id this stream gave before. Without one a call starts with its first event, anything wider now. */
  readonly lastEventId?: string | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The stream is over after the End of the call that the filter names. */
  readonly endAfterCall?: boolean | undefined;
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Subscriptions as server-sent events. */
@Injectable()
export class EventStream {
  constructor(
    private readonly hub: EventHub,
    private readonly drain: ShutdownState,
    private readonly apiKeys: ApiKeyStore,
    private readonly openSockets: OpenSockets,
  ) {}

  /** Whether a reader of this call's stream that comes back with `lastEventId` has had all of it: the call has ended, and that is its End. */
  isOver(head: CallSnapshot, lastEventId: string | undefined): boolean {
    return head.status === 'ended' && lastEventId !== undefined && lastEventId !== '' && this.hub.isBehind(head, lastEventId);
  }

  /**
   * Takes the reply over and writes events to it until the client leaves, the call has ended (`endAfterCall`), the key
   * is lost or may not read any more, or this process drains. Throws a ProblemError for an unreadable `lastEventId`, or
   * when too many streams are open, the reply being untouched then. The caller has checked that the principal may read the call.
   *
   * Steps: the connection, which writes nothing yet → its subscription, which delivers to it from here on → the head →
   * what ends it.
   */
  streamEvents({ principal, filter, lastEventId, request, reply, endAfterCall = false }: StreamEventsRequest): void {
    if (this.drain.draining) throw new ProblemError('overloaded', 'This gateway is going away; connect again', { retryAfterMs: 1000 });
    if (request.method === 'HEAD') return void reply.headers(STREAM_HEADERS).send();
    if (request.raw.socket.destroyed) return void reply.hijack(); // The client left meanwhile.
    const place = this.openSockets.open(request.raw, principal);
    reply.raw.once('close', () => place.release());
    const mayRead = () => this.apiKeys.rejection(principal, 'read');
    const connection = new SseConnection(reply.raw, endAfterCall, DELIVERY_LIMITS, mayRead);
    const subscription = this.hub.subscribe({
      tenantId: principal.tenantId,
      filter,
      cursor: lastEventId === '' ? undefined : lastEventId,
      deliver: (delivery) => connection.deliver(delivery),
      writable: () => connection.writable(),
    });

    reply.hijack();
    request.raw.socket.setNoDelay(true);
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.writeHead(200, STREAM_HEADERS);
    connection.open(subscription);
    const leave = () => connection.end('drain', 'this gateway is going away; go on with Last-Event-ID');
    this.drain.signal.addEventListener('abort', leave);
    const unwatch = this.apiKeys.watch(principal, 'read', (problem) => connection.refuse(problem));
    reply.raw.once('close', () => {
      this.drain.signal.removeEventListener('abort', leave);
      unwatch();
    });
  }
}
