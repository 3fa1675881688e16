import { Controller, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, ROUTES, type BodyOf, type Principal, type QueryOf, type WorkerPollPage, type WorkerWelcome } from '#contracts';
import { Endpoint, RouteBody, RouteQuery } from '../../auth/endpoint.decorator.js';
import { OpenSockets } from '../../auth/open-sockets.service.js';
import { CurrentPrincipal } from '../../auth/principal.decorator.js';
import { PollRelay } from './poll-relay.service.js';
import { PollingWorkers } from './polling-workers.service.js';

/** Long-poll variant of `/v1/worker`: the same frames over HTTP, at any gateway. */
@Controller()
export class WorkersController {
  constructor(
    private readonly workers: PollingWorkers,
    private readonly relay: PollRelay,
    private readonly sockets: OpenSockets,
  ) {}

  @Endpoint(ROUTES.connectWorker)
  notASocket(@Res({ passthrough: true }) reply: FastifyReply): never {
    reply.header('Upgrade', 'websocket');
    throw new ProblemError('upgrade_required', 'This is a WebSocket: expected the headers Connection: Upgrade and Upgrade: websocket');
  }

  @Endpoint(ROUTES.registerWorker)
  async register(
    @CurrentPrincipal() principal: Principal,
    @RouteBody() hello: BodyOf<typeof ROUTES.registerWorker>,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkerWelcome> {
    // Counts a polling worker like a WebSocket, since both need equal resources of the gateway.
    const place = this.sockets.open(raw, principal);
    const gone = (id: string) => {
      place.release();
      this.relay.forget(id);
    };
    const welcome = await this.workers.register(principal, hello, gone).catch((error: unknown) => {
      place.release();
      throw error;
    });
    await this.relay.listenFor(welcome.workerId);
    reply.header('Location', `/v1/workers/${welcome.workerId}`);
    return welcome;
  }

  @Endpoint(ROUTES.pollWorker)
  async poll(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @RouteQuery() { wait = 0 }: QueryOf<typeof ROUTES.pollWorker>,
    @RouteBody() body: BodyOf<typeof ROUTES.pollWorker>,
    @Req() request: FastifyRequest,
  ): Promise<WorkerPollPage> {
    const gone = new AbortController();
    const closed = () => gone.abort();
    const waitMs = wait * 1_000;
    request.raw.socket.once('close', closed);
    try {
      if (this.workers.has(id)) return await this.workers.poll(principal, id, body, waitMs, gone.signal);
      const page = await this.relay.ask(principal, id, { kind: 'poll', body, waitMs }, gone.signal);
      return page ?? { frames: [], seq: body.after };
    } finally {
      request.raw.socket.off('close', closed);
    }
  }

  @Endpoint(ROUTES.sendWorkerMessages)
  async messages(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @RouteBody() { frames }: BodyOf<typeof ROUTES.sendWorkerMessages>,
    @Req() { workerBody: size = { bytes: 0, parts: 0 } }: FastifyRequest,
  ): Promise<void> {
    if (this.workers.has(id)) this.workers.messages(principal, id, frames, size);
    else await this.relay.ask(principal, id, { kind: 'messages', frames, size });
  }
}
