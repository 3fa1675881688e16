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
  /** `Last-Event-ID`: id of an earlier stream. Default: the first event of a call; for wider filters, now. */
  readonly lastEventId?: string | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** True if the stream ends after the End of the filter's call. */
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

  /** True if a client that reconnects with `lastEventId` has read the whole stream: the call has ended, and the id is of its End. */
  isOver(head: CallSnapshot, lastEventId: string | undefined): boolean {
    return head.status === 'ended' && lastEventId !== undefined && lastEventId !== '' && this.hub.isBehind(head, lastEventId);
  }

  /**
   * Takes over the reply and writes events until the client disconnects, the call has ended (`endAfterCall`), the key is
   * revoked or loses `read`, or this process drains. Throws a ProblemError for an unreadable `lastEventId`, or if too many
   * streams are open; the reply is then untouched. The caller has checked that the principal may read the call.
   *
   * Steps: create the connection, which writes nothing yet → subscribe, with deliveries to the connection → write the head →
   * register the reasons to end.
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
