import type { IncomingMessage } from 'node:http';
import { UseFilters } from '@nestjs/common';
import { MessageBody, SubscribeMessage, WebSocketGateway, type OnGatewayConnection, type OnGatewayInit } from '@nestjs/websockets';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { LIMITS, type Principal } from '#contracts';
import { EventHub } from '#event-log';
import { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import { CurrentPrincipal, Public, RequireScope } from '../../auth/principal.decorator.js';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { GiveInputService } from '../../calls/give-input.service.js';
import { CancelCallService } from '../../calls/cancel-call.service.js';
import { SubmitCallService } from '../../calls/submit-call.service.js';
import { ZodPipe } from '../../platform/http/zod.pipe.js';
import { frameSchema, SubmitFrame } from './client-frame.js';
import { serverFrames } from './server-frames.js';
import { StreamConnections } from './stream-connections.service.js';
import { StreamProblemFilter } from './stream-problem.filter.js';
import type { FrameOf, StreamRequest } from './stream-request.js';
import { STREAM_PATH } from './stream.adapter.js';
import { WsSubscription } from './ws-subscription.js';

const OPTIONS = {
  path: STREAM_PATH,
  maxPayload: LIMITS.submitFrameBytes,
  perMessageDeflate: false,
  closeTimeout: 10_000,
} satisfies ServerOptions & { closeTimeout: number };

/** Validated fields of a frame. */
const Frame = (schema: ConstructorParameters<typeof ZodPipe>[0]) => MessageBody('body', new ZodPipe(schema, 'frame'));

/**
 * `GET /v1/stream`: one handler for each op, except `auth` and `ping`, which `StreamSession` handles itself. A handler answers
 * through the session and returns nothing. A frame passes the same guard and pipe as HTTP requests, at a cost of about 2.5 µs
 * of CPU.
 */
@WebSocketGateway(OPTIONS)
@UseFilters(StreamProblemFilter)
export class StreamGateway implements OnGatewayInit<WebSocketServer>, OnGatewayConnection<WebSocket> {
  constructor(
    private readonly connections: StreamConnections,
    private readonly hub: EventHub,
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly decideApproval: DecideApprovalService,
    private readonly giveInput: GiveInputService,
    private readonly reader: CallReader,
  ) {}

  afterInit(server: WebSocketServer): void {
    this.connections.start(server);
  }

  handleConnection(client: WebSocket, request: IncomingMessage): void {
    this.connections.open(client, request);
  }

  /**
   * Reads the position in the log first: every event of the call comes after it. A repeated submission starts with the call's
   * first event.
   */
  @RequireScope('submit')
  @SubscribeMessage('submit')
  async submit(
    @CurrentPrincipal() principal: Principal,
    @MessageBody() { session, id }: StreamRequest,
    @Frame(SubmitFrame) { call: body, idempotencyKey, traceparent, batch }: FrameOf<'submit'>,
  ): Promise<void> {
    const subscription = new WsSubscription(id, true, batch);
    await session.withSubscription(subscription, async () => {
      const position = this.hub.currentPosition();
      const clientDisconnectSignal = () => session.clientDisconnectSignal();
      const { call, created } = await this.submitCall.submit(principal, body, { idempotencyKey, traceparent, clientDisconnectSignal });
      session.send(serverFrames.accepted(id, call));
      const cursor = created ? position.cursorOf(call.id) : undefined;
      session.openSubscription(subscription, principal.tenantId, { callId: call.id }, cursor);
    });
  }

  @RequireScope('read')
  @SubscribeMessage('subscribe')
  async subscribe(
    @CurrentPrincipal() principal: Principal,
    @MessageBody() { session, id }: StreamRequest,
    @Frame(frameSchema('subscribe')) { filter, cursor, batch }: FrameOf<'subscribe'>,
  ): Promise<void> {
    const subscription = new WsSubscription(id, false, batch);
    await session.withSubscription(subscription, async () => {
      if (filter.callId !== undefined) await this.reader.head(principal, filter.callId);
      session.openSubscription(subscription, principal.tenantId, filter, cursor);
    });
  }

  @Public()
  @SubscribeMessage('unsubscribe')
  unsubscribe(@MessageBody() { session, id }: StreamRequest, @Frame(frameSchema('unsubscribe')) _frame: unknown): void {
    session.unsubscribe(id);
    session.send(serverFrames.unsubscribed(id));
  }

  @RequireScope('cancel')
  @SubscribeMessage('cancel')
  async cancel(
    @CurrentPrincipal() principal: Principal,
    @MessageBody() { session, id }: StreamRequest,
    @Frame(frameSchema('cancel')) { callId, graceMs, reason }: FrameOf<'cancel'>,
  ): Promise<void> {
    const call = await this.cancelCall.cancel(principal, callId, { graceMs, ...(reason === undefined ? {} : { reason }) });
    session.send(serverFrames.ok(id, call));
  }

  @RequireScope('read')
  @SubscribeMessage('input')
  async input(
    @CurrentPrincipal() principal: Principal,
    @MessageBody() { session, id }: StreamRequest,
    @Frame(frameSchema('input')) { op: _op, id: _id, callId, ...input }: FrameOf<'input'>,
  ): Promise<void> {
    session.send(serverFrames.ok(id, await this.giveInput.give(principal, callId, input)));
  }

  @RequireScope('approve')
  @SubscribeMessage('decide')
  async decide(
    @CurrentPrincipal() principal: Principal,
    @MessageBody() { session, id }: StreamRequest,
    @Frame(frameSchema('decide')) { op: _op, id: _id, callId, ...decision }: FrameOf<'decide'>,
  ): Promise<void> {
    session.send(serverFrames.ok(id, await this.decideApproval.decide(principal, callId, decision)));
  }
}
