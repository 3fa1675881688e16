import type { IncomingMessage } from 'node:http';
import { Inject, type BeforeApplicationShutdown } from '@nestjs/common';
import { WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import type { Logger } from 'pino';
import type { ServerOptions, VerifyClientCallbackAsync, WebSocket, WebSocketServer } from 'ws';
import { LIMITS, ProblemError } from '#contracts';
import { EventHub } from '#event-log';
import { telemetry } from '#observability';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { OpenSockets, type SocketReservation } from '../../auth/open-sockets.service.js';
import { OriginPolicy } from '../../auth/origin-policy.service.js';
import { RateLimits } from '../../auth/rate-limits.service.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import { SubmitCallService } from '../../calls/submit-call.service.js';
import { DELIVERY_LIMITS } from '../delivery/socket-outbox.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { LOGGER } from '../../platform/tokens.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { STREAM_PATH } from './stream.adapter.js';
import { StreamSession } from './stream-session.js';
import type { StreamLimits, StreamDependencies } from './stream-dependencies.js';

const PING_MS = 15_000;
/** Clients come back spread over this time, so that the other gateways are not run over. */
const RECONNECT_SPREAD_MS = 2000;
/** How long clients may take to close before they are cut off. */
const CLOSE_GRACE_MS = 2000;

const STREAM_LIMITS: StreamLimits = {
  authMs: 10_000,
  burst: 10_000,
  framesPerSecond: 5000,
  inFlight: 512,
  followedCalls: 20_000,
  filters: LIMITS.filtersPerSocket,
  delivery: DELIVERY_LIMITS,
};

const OPTIONS = {
  path: STREAM_PATH,
  maxPayload: LIMITS.submitFrameBytes,
  perMessageDeflate: false,
  closeTimeout: 10_000,
} satisfies ServerOptions & { closeTimeout: number };

/**
 * `GET /v1/stream`: log → sockets, resume by cursor. Refuses strangers before the upgrade, keeps the heartbeat, and on
 * a drain asks every client to reconnect before the door closes. What a client may say is in `stream-session.ts`.
 */
@WebSocketGateway(OPTIONS)
export class StreamGateway implements OnGatewayInit<WebSocketServer>, OnGatewayConnection<WebSocket>, BeforeApplicationShutdown {
  private readonly sessions = new Map<WebSocket, StreamSession>();
  /** From the upgrade's acceptance on; released when its connection closes. */
  private readonly reservations = new WeakMap<IncomingMessage, SocketReservation>();
  private readonly services: StreamDependencies;
  private heartbeat: NodeJS.Timeout | undefined;
  private drained: Promise<void> | undefined;

  constructor(
    hub: EventHub,
    submitCall: SubmitCallService,
    cancelCall: CancelCallService,
    decideApproval: DecideApprovalService,
    reader: CallReader,
    rateLimits: RateLimits,
    private readonly apiKeys: ApiKeyStore,
    private readonly origins: OriginPolicy,
    private readonly draining: ShutdownState,
    private readonly openSockets: OpenSockets,
    @Inject(LOGGER) log: Logger,
  ) {
    const onInternalError = (error: unknown) => log.error({ err: error }, 'a stream frame failed');
    this.services = { hub, submitCall, cancelCall, decideApproval, reader, rateLimits, apiKeys, onInternalError };
  }

  afterInit(server: WebSocketServer): void {
    server.options.verifyClient = ({ req }: { req: IncomingMessage }, answer: Parameters<VerifyClientCallbackAsync>[1]) => {
      const rejection = this.refusal(req) ?? this.reserve(req);
      if (rejection === undefined) return answer(true);
      const text = JSON.stringify(rejection.toProblem());
      const { retryAfterMs } = rejection.facts;
      const retry = retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) };
      answer(false, rejection.status, text, { 'Content-Type': 'application/problem+json; charset=utf-8', ...retry });
    };
    this.heartbeat = setInterval(() => this.sendHeartbeats(), PING_MS);
    this.draining.signal.addEventListener('abort', () => void this.drain(), { once: true });
  }

  handleConnection(client: WebSocket, request: IncomingMessage): void {
    const place = this.reservations.get(request);
    if (place === undefined) return client.terminate();
    const socket = new StreamSession(client, this.services, STREAM_LIMITS, bearerOf(request), place);
    this.sessions.set(client, socket);
    telemetry.socketOpened.emit({ kind: 'ws' });
    client.once('close', () => {
      this.sessions.delete(client);
      telemetry.socketClosed.emit({ kind: 'ws', why: socket.closedFor ?? 'client' });
    });
  }

  /** Asks every client to reconnect; resolves when all are gone, at the latest after two seconds. Idempotent. */
  drain(): Promise<void> {
    return (this.drained ??= this.closeGracefully());
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.drain();
  }

  private async closeGracefully(): Promise<void> {
    const gone = [...this.sessions].map(([client, socket]) => {
      const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
      socket.reconnect(Math.floor(Math.random() * RECONNECT_SPREAD_MS), 'this gateway is going away');
      return closed;
    });
    const cut = setTimeout(() => {
      for (const socket of this.sessions.values()) socket.terminate();
    }, CLOSE_GRACE_MS);
    await Promise.all(gone);
    clearTimeout(cut);
  }

  private refusal(request: IncomingMessage): ProblemError | undefined {
    const strange = this.origins.rejectionReason(request.headers);
    if (strange !== undefined) return new ProblemError('origin_refused', strange);
    if (this.draining.draining) return new ProblemError('overloaded', 'This gateway is going away; connect again', { retryAfterMs: 1000 });
    if (request.headers.authorization === undefined) return undefined;
    const token = bearerOf(request);
    if (token === undefined) return new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <API key>');
    return this.apiKeys.authenticate(token) ? undefined : new ProblemError('unauthenticated', 'The API key is unknown or has expired');
  }

  private reserve(request: IncomingMessage): ProblemError | undefined {
    const token = bearerOf(request);
    try {
      const place = this.openSockets.open(addressOf(request), token === undefined ? undefined : this.apiKeys.authenticate(token));
      request.socket.once('close', () => place.release());
      this.reservations.set(request, place);
      return undefined;
    } catch (error) {
      return toProblem(error);
    }
  }

  private sendHeartbeats(): void {
    for (const socket of this.sessions.values()) socket.heartbeat();
  }
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? 'unknown';
}

function bearerOf({ headers }: IncomingMessage): string | undefined {
  return headers.authorization === undefined ? undefined : /^Bearer +(\S{1,8192}) *$/i.exec(headers.authorization)?.[1];
}
