import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, ROUTES, type Principal, type QueryOf } from '#contracts';
import { CallReader } from '../calls/read/call-reader.service.js';
import { EventStream } from './sse/event-stream.js';
import { Endpoint, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { parse, parseCallId } from '../platform/http/parse.js';

/** Events over HTTP: of one call as JSON or as a stream, and all events visible to the key as a stream. */
@Controller()
export class EventsController {
  constructor(
    private readonly reader: CallReader,
    private readonly stream: EventStream,
  ) {}

  /** Joins the stored texts without parsing them. */
  @Endpoint(ROUTES.getCallEvents)
  async ofCall(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @Query() query: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const callId = parseCallId(id);
    if (wantsStream(request)) {
      const head = await this.reader.head(caller, callId);
      const lastEventId = lastEventIdOf(request);
      // 204 is the only response after which an EventSource does not reconnect.
      if (this.stream.isOver(head, lastEventId)) return void reply.status(204).send();
      return this.stream.streamEvents({ principal: caller, filter: { callId }, lastEventId, request, reply, endAfterCall: true });
    }
    const { events, nextCursor } = await this.reader.events(caller, callId, parse(ROUTES.getCallEvents.query, query, 'query'));
    const next = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
    reply.type('application/json; charset=utf-8').send(`{"events":[${events.map(({ json }) => json).join(',')}]${next}}`);
  }

  /** `types` may be repeated or separated by commas. */
  @Endpoint(ROUTES.streamEvents)
  async all(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() filter: QueryOf<typeof ROUTES.streamEvents>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (filter.callId !== undefined) await this.reader.head(caller, filter.callId);
    this.stream.streamEvents({ principal: caller, filter, lastEventId: lastEventIdOf(request), request, reply });
  }

  /** Handles requests without an upgrade: the client did not request one, or a proxy dropped its headers. */
  @Endpoint(ROUTES.openStream)
  notASocket(@Res({ passthrough: true }) reply: FastifyReply): never {
    reply.header('Upgrade', 'websocket');
    throw new ProblemError(
      'upgrade_required',
      'This is a WebSocket: expected the headers Connection: Upgrade and Upgrade: websocket, which proxies on the way have to pass on',
    );
  }
}

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' ? id : undefined;
}

function wantsStream({ headers }: FastifyRequest): boolean {
  return /(?:^|,)\s*text\/event-stream/i.test(headers.accept ?? '');
}
