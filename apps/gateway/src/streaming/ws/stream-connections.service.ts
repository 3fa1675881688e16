import type { IncomingMessage } from 'node:http';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { VerifyClientCallbackAsync, WebSocket, WebSocketServer } from 'ws';
import { LIMITS, ProblemError } from '#contracts';
import { EventHub } from '#event-log';
import { telemetry } from '#observability';
import { bearerToken } from '../../auth/access.js';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { Authenticator } from '../../auth/authenticator.service.js';
import { OpenSockets, type SocketReservation } from '../../auth/open-sockets.service.js';
import { OriginPolicy } from '../../auth/origin-policy.service.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { DELIVERY_LIMITS } from '../delivery/socket-outbox.js';
import { StreamSession, type StreamLimits } from './stream-session.js';

const PING_MS = 15_000;
/** Time over which reconnections are spread, to avoid a burst on the other gateways. */
const RECONNECT_SPREAD_MS = 2000;
/** Time for clients to answer the close before their connection is destroyed. */
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

/**
 * Open sockets of this gateway: accepts upgrades, holds the session of each socket, sends heartbeats, and drains by asking
 * every client to reconnect before the HTTP server closes.
 */
@Injectable()
export class StreamConnections implements BeforeApplicationShutdown {
  private readonly sessions = new Map<WebSocket, StreamSession>();
  /** Reservations from the acceptance of the upgrade until the connection closes. */
  private readonly reservations = new WeakMap<IncomingMessage, SocketReservation>();
  private heartbeat: NodeJS.Timeout | undefined;
  private drained: Promise<void> | undefined;

  constructor(
    private readonly hub: EventHub,
    private readonly apiKeys: ApiKeyStore,
    private readonly authenticator: Authenticator,
    private readonly origins: OriginPolicy,
    private readonly shutdown: ShutdownState,
    private readonly openSockets: OpenSockets,
  ) {}

  start(server: WebSocketServer): void {
    server.options.verifyClient = ({ req }: { req: IncomingMessage }, answer) => void this.verify(req, answer);
    this.heartbeat = setInterval(() => {
      for (const session of this.sessions.values()) session.heartbeat();
    }, PING_MS);
    this.shutdown.signal.addEventListener('abort', () => void this.drain(), { once: true });
  }

  open(client: WebSocket, request: IncomingMessage): void {
    const reservation = this.reservations.get(request);
    if (reservation === undefined) return client.terminate();
    const context = { hub: this.hub, apiKeys: this.apiKeys, authenticator: this.authenticator, limits: STREAM_LIMITS };
    const { headers } = request;
    const credentials = { token: bearerToken(headers.authorization), login: this.authenticator.loginOf(headers) };
    const session = new StreamSession(client, context, credentials, reservation);
    this.sessions.set(client, session);
    telemetry.socketOpened.emit({ kind: 'ws' });
    client.once('close', () => {
      this.sessions.delete(client);
      telemetry.socketClosed.emit({ kind: 'ws', why: session.closedFor ?? 'client' });
    });
  }

  sessionOf(client: WebSocket): StreamSession | undefined {
    return this.sessions.get(client);
  }

  /** Asks every client to reconnect; resolves when all are closed, after two seconds at the latest. Idempotent. */
  drain(): Promise<void> {
    return (this.drained ??= this.closeGracefully());
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.drain();
  }

  private async closeGracefully(): Promise<void> {
    const closing = [...this.sessions].map(([client, session]) => {
      const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
      session.reconnect(Math.floor(Math.random() * RECONNECT_SPREAD_MS), 'this gateway is going away');
      return closed;
    });
    const cut = setTimeout(() => {
      for (const session of this.sessions.values()) session.terminate();
    }, CLOSE_GRACE_MS);
    await Promise.all(closing);
    clearTimeout(cut);
  }

  private async verify(request: IncomingMessage, answer: Parameters<VerifyClientCallbackAsync>[1]): Promise<void> {
    try {
      await this.accept(request);
      answer(true);
    } catch (error) {
      const problem = toProblem(error);
      const { retryAfterMs } = problem.facts;
      answer(false, problem.status, JSON.stringify(problem.toProblem()), {
        'Content-Type': 'application/problem+json; charset=utf-8',
        ...(retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) }),
      });
    }
  }

  /** @throws ProblemError for a rejected upgrade */
  private async accept(request: IncomingMessage): Promise<void> {
    const foreign = this.origins.rejectionReason(request.headers);
    if (foreign !== undefined) throw new ProblemError('origin_refused', foreign);
    if (this.shutdown.draining) throw new ProblemError('overloaded', 'This gateway is going away; connect again', { retryAfterMs: 1000 });
    const token = bearerToken(request.headers.authorization);
    const principal = token === undefined ? undefined : await this.authenticator.identify(token);
    if (request.socket.destroyed) return;
    const reservation = this.openSockets.open(request, principal);
    request.socket.once('close', () => reservation.release());
    this.reservations.set(request, reservation);
  }
}
