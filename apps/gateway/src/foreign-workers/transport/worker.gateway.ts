import type { IncomingMessage } from 'node:http';
import { WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import type { ServerOptions, VerifyClientCallbackAsync, WebSocket, WebSocketServer } from 'ws';
import { ProblemError, WORKER_PATH, WORKER_SUBPROTOCOL, type Principal } from '#contracts';
import { assertScope, bearerToken } from '../../auth/access.js';
import { Authenticator } from '../../auth/authenticator.service.js';
import { OpenSockets } from '../../auth/open-sockets.service.js';
import { OriginPolicy } from '../../auth/origin-policy.service.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { ForeignWorkers } from '../bridge/foreign-workers.service.js';
import { WORKER_SOCKET_OPTIONS, WorkerSocket } from './worker-socket.js';

const OPTIONS = { path: WORKER_PATH, ...WORKER_SOCKET_OPTIONS } satisfies ServerOptions;

/** `GET /v1/worker`: accepts upgrades. `WorkerSocket` handles the frames. */
@WebSocketGateway(OPTIONS)
export class WorkerGateway implements OnGatewayInit<WebSocketServer>, OnGatewayConnection<WebSocket> {
  private readonly principals = new WeakMap<IncomingMessage, Principal>();

  constructor(
    private readonly workers: ForeignWorkers,
    private readonly authenticator: Authenticator,
    private readonly origins: OriginPolicy,
    private readonly openSockets: OpenSockets,
    private readonly shutdown: ShutdownState,
  ) {}

  afterInit(server: WebSocketServer): void {
    server.options.verifyClient = ({ req }: { req: IncomingMessage }, answer) => void this.verify(req, answer);
  }

  handleConnection(client: WebSocket, request: IncomingMessage): void {
    const principal = this.principals.get(request);
    if (principal === undefined) client.terminate();
    else void new WorkerSocket(client, principal, this.workers);
  }

  private async verify(request: IncomingMessage, answer: Parameters<VerifyClientCallbackAsync>[1]): Promise<void> {
    try {
      this.principals.set(request, await this.accept(request));
      answer(true);
    } catch (error) {
      const problem = toProblem(error);
      answer(false, problem.status, JSON.stringify(problem.toProblem()), { 'Content-Type': 'application/problem+json; charset=utf-8' });
    }
  }

  /** @throws ProblemError for a rejected upgrade */
  private async accept(request: IncomingMessage): Promise<Principal> {
    const foreign = this.origins.rejectionReason(request.headers);
    if (foreign !== undefined) throw new ProblemError('origin_refused', foreign);
    if (this.shutdown.draining) throw new ProblemError('overloaded', 'This gateway is going away; connect again', { retryAfterMs: 1_000 });
    const token = bearerToken(request.headers.authorization);
    if (token === undefined) throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <API key>');
    const principal = await this.authenticator.identify(token);
    assertScope(principal, 'work');
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((it) => it.trim());
    if (offered[0] !== WORKER_SUBPROTOCOL)
      throw new ProblemError(
        'invalid_request',
        `Expected the WebSocket subprotocol ${WORKER_SUBPROTOCOL}; got ${JSON.stringify(offered[0])}`,
      );
    if (request.socket.destroyed) return principal;
    const reservation = this.openSockets.open(request, principal);
    request.socket.once('close', () => reservation.release());
    return principal;
  }
}
