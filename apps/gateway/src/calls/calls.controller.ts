import { Controller, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ROUTES, type BodyOf, type Call, type CallDebugLog, type Erasure, type Principal, type QueryOf, type Quote } from '#contracts';
import { CallReader } from './read/call-reader.service.js';
import { DebugLogService } from './debug/debug-log.service.js';
import { CancelCallService } from './cancel-call.service.js';
import { EraseCallService } from './erase-call.service.js';
import { GiveInputService } from './give-input.service.js';
import { ReplayCallService } from './replay-call.service.js';
import { SubmitCallService } from './submit-call.service.js';
import { Endpoint, RouteBody, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { parseCallId, parsePreferWait, prefersCancel } from '../platform/http/parse.js';
import { callOptions, type SubmitHeaders } from './submit-headers.js';
import { SubmitCallRequest } from './submit-call-request.js';

/** Single calls over HTTP: submit, quote, read, cancel, input, replay. */
@Controller()
export class CallsController {
  constructor(
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly eraseCall: EraseCallService,
    private readonly giveInput: GiveInputService,
    private readonly replayCall: ReplayCallService,
    private readonly reader: CallReader,
    private readonly debugLog: DebugLogService,
  ) {}

  @Endpoint(ROUTES.submitCall)
  async submit(
    @CurrentPrincipal() caller: Principal,
    @RouteBody({ parsedBy: SubmitCallRequest }) body: BodyOf<typeof ROUTES.submitCall>,
    @Headers() headers: SubmitHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { call } = await this.submitCall.submit(caller, body, callOptions(caller, headers, reply));
    sendCallResponse(reply, call, headers);
  }

  @Endpoint(ROUTES.quoteCall)
  quote(
    @CurrentPrincipal() caller: Principal,
    @RouteBody({ parsedBy: SubmitCallRequest }) body: BodyOf<typeof ROUTES.quoteCall>,
  ): Promise<Quote> {
    return this.submitCall.quote(caller, body);
  }

  @Endpoint(ROUTES.getCall)
  read(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteQuery() { wait }: QueryOf<typeof ROUTES.getCall>,
  ): Promise<Call> {
    const callId = parseCallId(id);
    return wait === undefined ? this.reader.read(caller, callId) : this.reader.readEnded(caller, callId, wait * 1000);
  }

  @Endpoint(ROUTES.getCallDebugLog)
  debug(@CurrentPrincipal() caller: Principal, @Param('id') id: string): Promise<CallDebugLog> {
    return this.debugLog.read(caller, parseCallId(id));
  }

  @Endpoint(ROUTES.cancelCall)
  cancel(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.cancelCall>,
  ): Promise<Call> {
    return this.cancelCall.cancel(caller, parseCallId(id), body);
  }

  @Endpoint(ROUTES.eraseCall)
  erase(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.eraseCall>,
  ): Promise<Erasure> {
    return this.eraseCall.erase(caller, parseCallId(id), body);
  }

  @Endpoint(ROUTES.giveInput)
  input(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @RouteBody() body: BodyOf<typeof ROUTES.giveInput>): Promise<Call> {
    return this.giveInput.give(caller, parseCallId(id), body);
  }

  @Endpoint(ROUTES.replayCall)
  async replay(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.replayCall>,
    @Headers() headers: SubmitHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { call } = await this.replayCall.replay(caller, parseCallId(id), body, callOptions(caller, headers, reply));
    sendCallResponse(reply, call, headers);
  }
}

/** Sends 200 for an ended call, else 202. Sets `Location` and `Preference-Applied`. */
function sendCallResponse(reply: FastifyReply, call: Call, { prefer }: SubmitHeaders): void {
  reply.status(call.status === 'ended' ? 200 : 202).header('Location', `/v1/calls/${call.id}`);
  const wait = parsePreferWait(prefer);
  if (wait !== undefined) reply.header('Preference-Applied', `wait=${wait}${prefersCancel(prefer) ? ', cancel-on-disconnect' : ''}`);
  reply.send(call);
}
