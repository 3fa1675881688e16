import { Controller, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, ROUTES, type BodyOf, type Principal, type QueryOf, type WorkerPollPage, type WorkerWelcome } from '#contracts';
import { Endpoint, RouteBody, RouteQuery } from '../../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../../auth/principal.decorator.js';
import type { ConnectedWorker } from '../bridge/connected-worker.js';
import { ForeignWorkers } from '../bridge/foreign-workers.service.js';
import { PollMailbox } from './poll-mailbox.js';

interface PollingWorker {
  readonly worker: ConnectedWorker;
  readonly mailbox: PollMailbox;
}

/** The long-poll twin of `/v1/worker`: the same frames over HTTP. */
@Controller()
export class WorkersController {
  private readonly polling = new Map<string, PollingWorker>();

  constructor(private readonly workers: ForeignWorkers) {}

  @Endpoint(ROUTES.connectWorker)
  notASocket(@Res({ passthrough: true }) reply: FastifyReply): never {
    reply.header('Upgrade', 'websocket');
    throw new ProblemError('upgrade_required', 'This is a WebSocket: expected the headers Connection: Upgrade and Upgrade: websocket');
  }

  @Endpoint(ROUTES.registerWorker)
  async register(
    @CurrentPrincipal() principal: Principal,
    @RouteBody() hello: BodyOf<typeof ROUTES.registerWorker>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkerWelcome> {
    let id = '';
    const mailbox: PollMailbox = new PollMailbox(() => {
      const gone = this.polling.get(id);
      this.polling.delete(id);
      if (gone !== undefined) void this.workers.disconnect(gone.worker);
    });
    const { worker, welcome } = await this.workers.connect(principal, hello, mailbox);
    id = worker.id;
    this.polling.set(id, { worker, mailbox });
    reply.header('Location', `/v1/workers/${id}`);
    return welcome;
  }

  @Endpoint(ROUTES.pollWorker)
  async poll(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @RouteQuery() { wait = 0 }: QueryOf<typeof ROUTES.pollWorker>,
    @RouteBody() { credit, after }: BodyOf<typeof ROUTES.pollWorker>,
    @Req() request: FastifyRequest,
  ): Promise<WorkerPollPage> {
    const { worker, mailbox } = this.workerOf(principal, id);
    for (const more of credit) this.workers.receive(worker, { op: 'credit', ...more });
    worker.seenAt = performance.now();
    const gone = new AbortController();
    const closed = () => gone.abort();
    request.raw.socket.once('close', closed);
    try {
      return await mailbox.poll(after, Math.min(wait * 1_000, this.workers.heartbeatMs), gone.signal);
    } finally {
      request.raw.socket.off('close', closed);
      worker.seenAt = performance.now();
      if (gone.signal.aborted) this.workers.pollLost(worker);
    }
  }

  @Endpoint(ROUTES.sendWorkerMessages)
  messages(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @RouteBody() { frames }: BodyOf<typeof ROUTES.sendWorkerMessages>,
  ): void {
    const { worker } = this.workerOf(principal, id);
    for (const frame of frames) this.workers.receive(worker, frame);
  }

  /** A worker of another key is unknown, too. A newer token of the same subject counts from now on. */
  private workerOf(principal: Principal, id: string): PollingWorker {
    const { tenantId, keyId } = principal;
    const found = this.polling.get(id);
    if (found?.worker.tenantId === tenantId && found.worker.principal.keyId === keyId) {
      found.worker.principal = principal;
      return found;
    }
    throw new ProblemError(
      'resource_not_found',
      'No worker with this id is connected to this gateway: send hello to POST /v1/workers again',
    );
  }
}
