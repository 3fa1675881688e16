import type { RawData, WebSocket } from 'ws';
import { CLOSE_CODES, ClientFrame, LIMITS, ProblemError, type EventFilter, type Principal } from '#contracts';
import type { Delivery, EventHub } from '#event-log';
import type { ApiKeyStore } from '../../auth/api-key-store.service.js';
import type { Authenticator } from '../../auth/authenticator.service.js';
import type { SocketReservation } from '../../auth/open-sockets.service.js';
import { TokenBucket } from '../../auth/token-bucket.js';
import { parse } from '../../platform/http/parse.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { SocketOutbox, type DeliveryLimits, type SlowConsumer } from '../delivery/socket-outbox.js';
import { readClientFrame } from './client-frame.js';
import { FrameFlow, type FlowLimits } from './frame-flow.js';
import { serverFrames } from './server-frames.js';
import { SessionSubscriptions, type SubscriptionLimits } from './session-subscriptions.js';
import type { WsSubscription } from './ws-subscription.js';

export interface StreamLimits extends FlowLimits, SubscriptionLimits {
  /** Time for a socket to send its key, ms. */
  readonly authMs: number;
  readonly framesPerSecond: number;
  readonly delivery: DeliveryLimits;
}

/** Credentials of the upgrade request: a bearer token, and a cookie header with a login, which an `auth` frame without a token uses. */
export interface UpgradeCredentials {
  readonly token?: string | undefined;
  readonly login?: string | undefined;
}

/** Parts of the gateway that a session needs. */
export interface SessionContext {
  readonly hub: Pick<EventHub, 'subscribe'>;
  readonly apiKeys: Pick<ApiKeyStore, 'current' | 'rejection' | 'watch' | 'onChange'>;
  readonly authenticator: Pick<Authenticator, 'identify' | 'identifyLogin'>;
  readonly limits: StreamLimits;
}

/** Ops with a handler in `StreamGateway`; the session handles the others itself. */
export type HandledOp = Exclude<ClientFrame['op'], 'auth' | 'ping'>;

/** A frame for the handler of its op. */
export interface AcceptedFrame {
  readonly op: HandledOp;
  /** Id as JSON text. */
  readonly id: string | undefined;
  /** Parsed JSON; its fields are not validated yet. */
  readonly body: unknown;
  /** Current principal of the socket's key. */
  readonly principal: Principal;
}

const CLOSE_REASON_BYTES = 123;
/** Missed pongs after which a socket is terminated. */
const MAX_MISSED_PONGS = 2;

/**
 * State of one socket on `/v1/stream`: its key, subscriptions, outbox and limits. Reads frames, which the adapter passes to the
 * handlers of `StreamGateway`, and delivers events. Every byte to the client passes the outbox.
 *
 * The key is looked up for each frame and each delivery, because the config may change while the socket is open. A socket ends
 * with its key; a subscription ends when the key loses the scope that it needs.
 *
 * Over 300 lines in one class, because each way to end the socket must see the same `closedFor`: key, flood, slow consumer,
 * drain, client. Subscriptions, outbox, flow and budget have classes of their own.
 */
export class StreamSession {
  readonly flow: FrameFlow;
  private readonly outbox: SocketOutbox;
  private readonly subscriptions: SessionSubscriptions;
  private readonly budget: TokenBucket;
  /** Principal at the authentication of the socket. */
  private identity: Principal | undefined;
  private unwatchKey = () => {};
  private readonly stopListening: () => void;
  private readonly authDeadline: NodeJS.Timeout;
  private missedPongs = 0;
  private disconnected: AbortController | undefined;
  /** Reason for which the gateway closed the socket; undefined if the client did. */
  closedFor: string | undefined;

  /** Errors of the socket lead to its close event. */
  constructor(
    private readonly socket: WebSocket,
    private readonly context: SessionContext,
    private readonly credentials: UpgradeCredentials,
    private readonly reservation: Pick<SocketReservation, 'authenticate'>,
  ) {
    const { limits } = context;
    this.budget = new TokenBucket(limits.burst, limits.framesPerSecond);
    this.subscriptions = new SessionSubscriptions(limits);
    this.flow = new FrameFlow(socket, limits, () => this.endFlood());
    this.outbox = new SocketOutbox(connectionOf(socket), (why) => this.closeSlowConsumer(why), limits.delivery);
    this.authDeadline = setTimeout(
      () => this.endUnauthenticated(`Expected the frame {"op":"auth","token":…} within ${limits.authMs / 1000} seconds`),
      limits.authMs,
    );
    this.stopListening = context.apiKeys.onChange(() => this.dropForbidden());
    socket.on('error', () => {});
    socket.on('pong', () => (this.missedPongs = 0));
    socket.on('close', () => this.dispose());
    if (credentials.token !== undefined) this.authenticate(credentials.token);
  }

  /**
   * Reads one frame. Returns it for its handler, or nothing if it is already answered: a fault, a key or a ping. Handles keys
   * here and not in a handler, so that the next frame finds the socket authenticated, and pings, because they need no key.
   */
  receive(data: RawData, isBinary: boolean): AcceptedFrame | void {
    if (this.closedFor !== undefined) return;
    if (!this.budget.take()) return this.endFlood();
    if (isBinary) {
      return this.sendError(undefined, new ProblemError('invalid_request', 'Expected text frames with JSON; this one was binary'));
    }
    if (this.identity === undefined && frameSize(data) > LIMITS.frameBytes)
      return this.endUnauthenticated(`Expected the frame {"op":"auth","token":…} first, of at most ${LIMITS.frameBytes} bytes`);
    const { id, frame } = readClientFrame(frameText(data));
    if (frame instanceof ProblemError) return this.sendError(id, frame);
    const { op, body } = frame;
    if (op === 'auth' || op === 'ping') return this.receiveOwn(id, body);
    if (this.identity === undefined) return this.endUnauthenticated('Expected the frame {"op":"auth","token":…} first', id);
    const principal = this.context.apiKeys.current(this.identity);
    if (principal === undefined) return this.endWithLostKey(id);
    return { op, id, body, principal };
  }

  /** Tenant of its key; empty before its authentication. */
  get tenantId(): string {
    return this.identity?.tenantId ?? '';
  }

  send(frame: string): void {
    this.outbox.send(frame);
  }

  sendError(id: string | undefined, problem: ProblemError): void {
    this.outbox.send(serverFrames.error(id, problem.toProblem()));
  }

  /** Reserves the subscription's id at once, and frees it if `operation` fails. */
  async withSubscription(subscription: WsSubscription, operation: () => Promise<void>): Promise<void> {
    this.subscriptions.add(subscription);
    try {
      await operation();
    } catch (error) {
      this.subscriptions.drop(subscription);
      throw error;
    }
  }

  /** Begins to deliver, unless the subscription or the socket was closed meanwhile. */
  openSubscription(subscription: WsSubscription, tenantId: string, filter: EventFilter, cursor: string | undefined): void {
    if (subscription.closed || this.closedFor !== undefined) return;
    const deliver = (delivery: Delivery) => this.deliver(subscription, delivery);
    subscription.open(this.context.hub.subscribe({ tenantId, filter, cursor, deliver, writable: () => this.outbox.writable() }));
  }

  /** @throws ProblemError `resource_not_found` */
  unsubscribe(id: string): void {
    this.subscriptions.dropById(id);
  }

  /** Signal that aborts when the client disconnects. One per socket, created on first use. */
  clientDisconnectSignal(): AbortSignal {
    if (this.disconnected === undefined) {
      const disconnected = new AbortController();
      const abort = () => disconnected.abort(new Error('The client went away.'));
      if (this.socket.readyState === this.socket.OPEN) this.socket.once('close', abort);
      else abort();
      this.disconnected = disconnected;
    }
    return this.disconnected.signal;
  }

  /** Sends a ping, or terminates a socket that answered none of the last ones. */
  heartbeat(): void {
    if (this.missedPongs >= MAX_MISSED_PONGS) {
      this.closedFor ??= 'no_pong';
      return this.socket.terminate();
    }
    this.missedPongs += 1;
    this.socket.ping();
  }

  /** Asks the client to reconnect to any gateway after `afterMs`, and closes. */
  reconnect(afterMs: number, reason: string): void {
    this.closedFor ??= 'drain';
    this.outbox.sendLast(serverFrames.reconnect(afterMs, reason));
    this.socket.close(CLOSE_CODES.goingAway, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  private deliver(subscription: WsSubscription, delivery: Delivery): void {
    if (this.endForbidden(subscription)) return;
    switch (delivery.kind) {
      case 'started':
        if (!subscription.followed) this.outbox.send(serverFrames.subscribed(subscription.id, delivery.cursor));
        return;
      case 'events':
        this.outbox.deliver(subscription, delivery.batch);
        if (subscription.followed && delivery.batch.events.at(-1)?.type === 'call.end') this.subscriptions.drop(subscription);
        return;
      case 'resync':
        this.outbox.send(serverFrames.resync(subscription.id, delivery.reason, delivery.snapshot, delivery.cursor));
        if (subscription.followed && delivery.snapshot.every(({ status }) => status === 'ended')) this.subscriptions.drop(subscription);
        return;
      case 'failed':
        this.subscriptions.drop(subscription);
        return this.sendError(subscription.id, delivery.problem);
      default:
        return delivery satisfies never;
    }
  }

  /** Ends forbidden subscriptions after a change of the keys. */
  private dropForbidden(): void {
    for (const subscription of this.subscriptions) this.endForbidden(subscription);
  }

  /** Ends the subscription, or the socket, if the key may no longer read its events. */
  private endForbidden(subscription: WsSubscription): boolean {
    const problem = this.identity && this.context.apiKeys.rejection(this.identity, subscription.scope);
    if (problem === undefined) return false;
    if (problem.code === 'unauthenticated') this.endWithLostKey();
    else if (this.subscriptions.has(subscription)) {
      this.subscriptions.drop(subscription);
      this.sendError(subscription.id, problem);
    }
    return true;
  }

  private receiveOwn(id: string | undefined, body: unknown): void {
    try {
      const frame = parse(ClientFrame, body, 'frame');
      if (frame.op === 'auth') this.authenticate(frame.token, id);
      else this.outbox.send(serverFrames.pong(id));
    } catch (error) {
      this.sendError(id, toProblem(error));
    }
  }

  /** Authenticates the socket, or replaces its key by another one of the same tenant. */
  private authenticate(token: string | undefined, id?: string): void {
    const { authenticator } = this.context;
    try {
      const found = token === undefined ? authenticator.identifyLogin(this.credentials.login) : authenticator.identify(token);
      if (found instanceof Promise) void this.flow.holdDuring(this.admitVerified(found, id));
      else this.admit(found, id);
    } catch (error) {
      this.endRefused(toProblem(error), id);
    }
  }

  /** Never rejects. */
  private async admitVerified(verified: Promise<Principal>, id: string | undefined): Promise<void> {
    await verified.then(
      (principal) => this.admit(principal, id),
      (error: unknown) => this.endRefused(toProblem(error), id),
    );
  }

  private admit(principal: Principal, id: string | undefined): void {
    if (this.closedFor !== undefined) return;
    if (this.identity && this.identity.tenantId !== principal.tenantId)
      return this.endUnauthenticated('The key belongs to another tenant than this socket', id);
    const tooMany = this.reservation.authenticate(principal);
    if (tooMany !== undefined) return this.end(CLOSE_CODES.tooManySockets, 'too many sockets', tooMany, id);
    this.identity = principal;
    clearTimeout(this.authDeadline);
    this.unwatchKey();
    this.unwatchKey = this.context.apiKeys.watch(principal, undefined, () => this.endWithLostKey());
    this.outbox.send(serverFrames.ready(principal));
    this.dropForbidden();
  }

  private endRefused(problem: ProblemError, id: string | undefined): void {
    if (problem.code === 'unauthenticated') this.endUnauthenticated(problem.detail, id);
    else this.end(CLOSE_CODES.goingAway, 'try again later', problem, id);
  }

  private endWithLostKey(id?: string): void {
    const problem = this.identity && this.context.apiKeys.rejection(this.identity);
    if (problem !== undefined) this.endUnauthenticated(problem.detail, id);
  }

  private endUnauthenticated(detail: string, id?: string): void {
    this.end(CLOSE_CODES.unauthenticated, 'unauthenticated', new ProblemError('unauthenticated', detail), id);
  }

  private endFlood(): void {
    const detail = `This socket sent more than ${this.context.limits.framesPerSecond} frames a second`;
    this.end(CLOSE_CODES.tooManyFrames, 'too many frames', new ProblemError('too_many_requests', detail, { retryAfterMs: 1000 }));
  }

  private end(code: number, reason: string, problem: ProblemError, id?: string): void {
    if (this.closedFor !== undefined) return;
    this.closedFor = reason.replaceAll(' ', '_');
    this.subscriptions.closeAll();
    this.outbox.sendLast(serverFrames.error(id, problem.toProblem()));
    this.socket.close(code, reason);
  }

  private closeSlowConsumer(why: SlowConsumer): void {
    this.closedFor ??= why;
    const cursor = this.subscriptions.onlyCursor();
    const reason = cursor === undefined ? 'slow consumer' : `cursor=${cursor}`;
    this.socket.close(CLOSE_CODES.slowConsumer, reason.length <= CLOSE_REASON_BYTES ? reason : 'slow consumer');
    this.subscriptions.closeAll();
  }

  private dispose(): void {
    this.closedFor ??= 'client';
    clearTimeout(this.authDeadline);
    this.unwatchKey();
    this.stopListening();
    this.outbox.close();
    this.subscriptions.closeAll();
  }
}

function connectionOf(socket: WebSocket) {
  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send: (frame: string | Buffer, flushed: () => void) => socket.send(frame, { binary: false }, flushed),
  };
}

/** Bytes of a frame. */
export function frameSize(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength;
}

/** Text of a frame. `ws` passes one Buffer by default. */
function frameText(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString();
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data).toString();
}
