import type { RawData, WebSocket } from 'ws';
import { CLOSE_CODES, LIMITS, ProblemError, type ClientFrame, type EventFilter, type Principal, type Scope } from '#contracts';
import type { Delivery } from '#event-log';
import type { SocketReservation } from '../../auth/open-sockets.service.js';
import { TokenBucket } from '../../auth/token-bucket.js';
import { SocketOutbox, type SlowConsumer } from '../delivery/socket-outbox.js';
import { withModelResult } from '../../platform/http/rejection.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { readClientFrame } from './client-frame.js';
import { serverFrames } from './server-frames.js';
import { WsSubscription } from './ws-subscription.js';
import type { StreamLimits, StreamDependencies } from './stream-dependencies.js';

type FrameOf<Op extends ClientFrame['op']> = Extract<ClientFrame, { op: Op }>;

const CLOSE_REASON_BYTES = 123;
const MISSED_BEATS = 2;

/**
 * One client on `/v1/stream`: reads its frames, does what they ask, and gives it its events. Each frame is answered;
 * nothing a client sends throws. The socket's errors end in its close event.
 *
 * What the key may do is looked up for each frame and each delivery, since the config changes while sockets are open. A
 * socket ends with its key; a subscription ends when the key loses the scope that it needs.
 */
export class StreamSession {
  private readonly outbox: SocketOutbox;
  private readonly subscriptions = new Map<string, WsSubscription>();
  /** How many of the lanes follow a submitted call. */
  private followed = 0;
  private readonly budget: TokenBucket;
  /** As the key was when the socket was authenticated. */
  private identity: Principal | undefined;
  private unwatchKey = () => {};
  private readonly stopListening: () => void;
  private readonly authDeadline: NodeJS.Timeout;
  private inFlight = 0;
  private missedPongs = 0;
  private disconnected: AbortController | undefined;
  /** Why this end closed the socket; the client did when it is undefined. */
  closedFor: string | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly services: StreamDependencies,
    private readonly limits: StreamLimits,
    token: string | undefined,
    private readonly reservation: Pick<SocketReservation, 'authenticate'>,
  ) {
    this.budget = new TokenBucket(limits.burst, limits.framesPerSecond);
    this.outbox = new SocketOutbox(this.connection(), (why) => this.closeSlowConsumer(why), limits.delivery);
    this.authDeadline = setTimeout(
      () => this.endUnauthenticated('Expected the frame {"op":"auth","token":…} within 10 seconds'),
      limits.authMs,
    );
    this.stopListening = services.apiKeys.onChange(() => this.dropForbidden());
    socket.on('error', () => {});
    socket.on('pong', () => (this.missedPongs = 0));
    socket.on('close', () => this.dispose());
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    if (token !== undefined) this.authenticate(token);
  }

  /** A ping, or the end of a socket that answered none of the last ones. */
  heartbeat(): void {
    if (this.missedPongs >= MISSED_BEATS) {
      this.closedFor ??= 'no_pong';
      return this.socket.terminate();
    }
    this.missedPongs += 1;
    this.socket.ping();
  }

  /** Asks the client to come back, here or elsewhere, after `afterMs`. */
  reconnect(afterMs: number, reason: string): void {
    this.closedFor ??= 'drain';
    this.socket.send(serverFrames.reconnect(afterMs, reason));
    this.socket.close(CLOSE_CODES.goingAway, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  private receive(data: RawData, isBinary: boolean): void {
    if (this.closedFor !== undefined) return;
    if (!this.budget.take()) {
      const problem = new ProblemError('too_many_requests', `This socket sent more than ${this.limits.framesPerSecond} frames a second`, {
        retryAfterMs: 1000,
      });
      return this.end(CLOSE_CODES.tooManyFrames, 'too many frames', problem);
    }
    if (isBinary)
      return this.answerError(undefined, new ProblemError('invalid_request', 'Expected text frames with JSON; this one was binary'));
    if (this.identity === undefined && sizeOf(data) > LIMITS.frameBytes)
      return this.endUnauthenticated(`Expected the frame {"op":"auth","token":…} first, of at most ${LIMITS.frameBytes} bytes`);
    const { id, frame } = readClientFrame(textOf(data));
    if (frame instanceof ProblemError) return this.answerError(id, frame);
    if (frame.op === 'auth') return this.authenticate(frame.token, id);
    if (frame.op === 'ping') return this.outbox.send(serverFrames.pong(id));
    if (this.identity === undefined) return this.endUnauthenticated('Expected the frame {"op":"auth","token":…} first', id);
    const principal = this.services.apiKeys.current(this.identity);
    if (principal === undefined) return this.endWithLostKey(id);
    this.track(this.perform(frame, principal, id ?? ''), id);
  }

  /** Every asynchronous operation goes through here: its error is answered, and too many at once stop the reading. */
  private track(operation: Promise<void>, id: string | undefined): void {
    this.inFlight += 1;
    if (this.inFlight >= this.limits.inFlight) this.socket.pause();
    void operation
      .catch((error: unknown) => this.answerError(id, error))
      .finally(() => {
        this.inFlight -= 1;
        if (this.socket.isPaused && this.inFlight <= this.limits.inFlight / 2) this.socket.resume();
      });
  }

  private async perform(frame: Exclude<ClientFrame, FrameOf<'auth' | 'ping'>>, principal: Principal, id: string): Promise<void> {
    switch (frame.op) {
      case 'unsubscribe':
        return this.unsubscribe(id);
      case 'subscribe':
        return this.withSubscription(new WsSubscription(id, false, frame.batch), (lane) => this.subscribe(frame, principal, lane));
      case 'submit':
        return this.withSubscription(new WsSubscription(id, true, frame.batch), (lane) => this.submit(frame, principal, lane)).catch(
          (error: unknown) => this.answerError(id, error, withModelResult),
        );
      case 'cancel': {
        await this.allow(principal, 'cancel');
        const call = await this.services.cancelCall.cancel(principal, frame.callId, {
          graceMs: frame.graceMs,
          ...(frame.reason === undefined ? {} : { reason: frame.reason }),
        });
        return this.outbox.send(serverFrames.ok(id, call));
      }
      case 'decide': {
        await this.allow(principal, 'approve');
        const { op: _op, id: _id, callId, ...decision } = frame;
        return this.outbox.send(serverFrames.ok(id, await this.services.decideApproval.decide(principal, callId, decision)));
      }
      default:
        return frame satisfies never;
    }
  }

  /** The id is taken from the frame's arrival on, and free again when the operation fails. */
  private async withSubscription(lane: WsSubscription, operation: (lane: WsSubscription) => Promise<void>): Promise<void> {
    const { id, followed } = lane;
    if (this.subscriptions.has(id))
      throw new ProblemError('conflict', 'This id is in use on this socket: unsubscribe it first, or take another');
    const { filters, followedCalls } = this.limits;
    if (!followed && this.subscriptions.size - this.followed >= filters)
      throw new ProblemError('too_many_requests', `A socket may have ${filters} subscriptions at once`);
    if (followed && this.followed >= followedCalls)
      throw new ProblemError('too_many_requests', `A socket may have ${followedCalls} submitted calls under way`);
    this.subscriptions.set(id, lane);
    if (followed) this.followed += 1;
    try {
      await operation(lane);
    } catch (error) {
      this.drop(lane);
      throw error;
    }
  }

  private async subscribe({ filter, cursor }: FrameOf<'subscribe'>, principal: Principal, lane: WsSubscription): Promise<void> {
    await this.allow(principal, 'read');
    if (filter.callId !== undefined) await this.services.reader.head(principal, filter.callId);
    this.openSubscription(lane, principal, filter, cursor);
  }

  /** The moment is taken first: everything that happens to the call comes after it. A repeated submission starts with the call's first event. */
  private async submit(
    { call: body, idempotencyKey, traceparent }: FrameOf<'submit'>,
    principal: Principal,
    lane: WsSubscription,
  ): Promise<void> {
    await this.allow(principal, 'submit');
    const moment = this.services.hub.currentPosition();
    const clientDisconnectSignal = () => this.gone();
    const { call, created } = await this.services.submitCall.submit(principal, body, {
      idempotencyKey,
      traceparent,
      clientDisconnectSignal,
    });
    this.outbox.send(serverFrames.accepted(lane.id, call));
    this.openSubscription(lane, principal, { callId: call.id }, created ? moment.cursorOf(call.id) : undefined);
  }

  /** Aborted when the client goes away. One for the socket, made when somebody asks for it. */
  private gone(): AbortSignal {
    if (this.disconnected === undefined) {
      const left = new AbortController();
      const abort = () => left.abort(new Error('The client went away.'));
      if (this.socket.readyState === this.socket.OPEN) this.socket.once('close', abort);
      else abort();
      this.disconnected = left;
    }
    return this.disconnected.signal;
  }

  private unsubscribe(id: string): void {
    const lane = this.subscriptions.get(id);
    if (lane === undefined) throw new ProblemError('resource_not_found', 'This socket has no subscription with this id');
    this.drop(lane);
    this.outbox.send(serverFrames.unsubscribed(id));
  }

  private openSubscription(lane: WsSubscription, { tenantId }: Principal, filter: EventFilter, cursor: string | undefined): void {
    if (lane.closed || this.closedFor !== undefined) return;
    const deliver = (delivery: Delivery) => this.deliver(lane, delivery);
    lane.open(this.services.hub.subscribe({ tenantId, filter, cursor, deliver, writable: () => this.outbox.writable() }));
  }

  private deliver(lane: WsSubscription, delivery: Delivery): void {
    if (this.endForbidden(lane)) return;
    switch (delivery.kind) {
      case 'started':
        if (!lane.followed) this.outbox.send(serverFrames.subscribed(lane.id, delivery.cursor));
        return;
      case 'events':
        this.outbox.deliver(lane, delivery.batch);
        if (lane.followed && delivery.batch.events.at(-1)?.type === 'call.end') this.drop(lane);
        return;
      case 'resync':
        this.outbox.send(serverFrames.resync(lane.id, delivery.reason, delivery.snapshot, delivery.cursor));
        if (lane.followed && delivery.snapshot.every(({ status }) => status === 'ended')) this.drop(lane);
        return;
      case 'failed':
        this.drop(lane);
        return this.answerError(lane.id, delivery.problem);
      default:
        return delivery satisfies never;
    }
  }

  /** After a change of the keys. */
  private dropForbidden(): void {
    for (const lane of this.subscriptions.values()) this.endForbidden(lane);
  }

  /** Ends the subscription, or the socket, when the key may not have the events any more. */
  private endForbidden(lane: WsSubscription): boolean {
    const problem = this.identity && this.services.apiKeys.rejection(this.identity, lane.scope);
    if (problem === undefined) return false;
    if (problem.code === 'unauthenticated') this.endWithLostKey();
    else if (this.subscriptions.get(lane.id) === lane) {
      this.drop(lane);
      this.answerError(lane.id, problem);
    }
    return true;
  }

  private drop(lane: WsSubscription): void {
    lane.close();
    if (this.subscriptions.get(lane.id) !== lane) return;
    this.subscriptions.delete(lane.id);
    if (lane.followed) this.followed -= 1;
  }

  /** The same checks as the guard of the HTTP routes: scope, then the key's budget. */
  private async allow(principal: Principal, scope: Scope): Promise<void> {
    const refusal = this.services.apiKeys.rejection(principal, scope);
    if (refusal !== undefined) throw refusal;
    const taking = this.services.rateLimits.take(principal);
    if (taking === undefined) return;
    const { allowed, limit, resetMs } = await taking;
    if (!allowed) throw new ProblemError('too_many_requests', `The key may make ${limit} requests a minute`, { retryAfterMs: resetMs });
  }

  /** Also again on an open socket, with a fresh key of the same tenant. */
  private authenticate(token: string, id?: string): void {
    const principal = this.services.apiKeys.authenticate(token);
    if (principal === undefined) return this.endUnauthenticated('The API key is unknown or has expired', id);
    if (this.identity && this.identity.tenantId !== principal.tenantId)
      return this.endUnauthenticated('The key belongs to another tenant than this socket', id);
    const full = this.reservation.authenticate(principal);
    if (full !== undefined) return this.end(CLOSE_CODES.tooManySockets, 'too many sockets', full, id);
    this.identity = principal;
    clearTimeout(this.authDeadline);
    this.unwatchKey();
    this.unwatchKey = this.services.apiKeys.watch(principal, undefined, () => this.endWithLostKey());
    this.outbox.send(serverFrames.ready(principal));
    this.dropForbidden();
  }

  private endWithLostKey(id?: string): void {
    const problem = this.identity && this.services.apiKeys.rejection(this.identity);
    if (problem !== undefined) this.endUnauthenticated(problem.detail, id);
  }

  private endUnauthenticated(detail: string, id?: string): void {
    this.end(CLOSE_CODES.unauthenticated, 'unauthenticated', new ProblemError('unauthenticated', detail), id);
  }

  private end(code: number, reason: string, problem: ProblemError, id?: string): void {
    if (this.closedFor !== undefined) return;
    this.closedFor = reason.replaceAll(' ', '_');
    for (const lane of this.subscriptions.values()) lane.close();
    this.socket.send(serverFrames.error(id, problem.toProblem()));
    this.socket.close(code, reason);
  }

  private answerError(id: string | undefined, error: unknown, shown = (problem: ProblemError) => problem): void {
    const problem = toProblem(error);
    if (problem.code === 'internal') this.services.onInternalError(error);
    this.outbox.send(serverFrames.error(id, shown(problem).toProblem()));
  }

  /** The client is too slow. With one subscription the reason tells where to go on; with more each frame did. */
  private closeSlowConsumer(why: SlowConsumer): void {
    this.closedFor ??= why;
    const [lane, another] = this.subscriptions.values();
    const reason = lane && !another ? `cursor=${lane.sentCursor}` : 'slow consumer';
    this.socket.close(CLOSE_CODES.slowConsumer, reason.length <= CLOSE_REASON_BYTES ? reason : 'slow consumer');
    for (const open of this.subscriptions.values()) open.close();
  }

  private dispose(): void {
    this.closedFor ??= 'client';
    clearTimeout(this.authDeadline);
    this.unwatchKey();
    this.stopListening();
    this.outbox.close();
    for (const lane of this.subscriptions.values()) lane.close();
    this.subscriptions.clear();
  }

  private connection() {
    const { socket } = this;
    return {
      get bufferedBytes() {
        return socket.bufferedAmount;
      },
      send: (frame: string | Buffer, flushed: () => void) => socket.send(frame, { binary: false }, flushed),
    };
  }
}

function sizeOf(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength;
}

/** `ws` gives one Buffer unless told otherwise. */
function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString();
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data).toString();
}
