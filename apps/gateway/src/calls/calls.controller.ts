import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CancelBody, DecisionBody, ListApprovalsQuery, ReplayBody, type ApprovalPage, type Call, type Principal } from '#contracts';
import { CallReader } from './call-reader.service.js';
import { CancelCallService } from './cancel-call.service.js';
import { DecideApprovalService } from '../approvals/decide-approval.service.js';
import { ReplayCallService } from './replay-call.service.js';
import { SubmitCallService } from './submit-call.service.js';
import { CurrentPrincipal, RequireScope } from '../auth/principal.decorator.js';
import { sendCallResponse } from './send-call-response.js';
import { parse, parseCallId, parseWaitQuery } from '../platform/http/parse.js';
import { callOptions, type SubmitHeaders } from './submit-headers.js';
import { SubmitCallRequest } from './submit-call-request.js';

/** Calls over HTTP: submit, look, list, cancel, decide, replay. */
@Controller('v1')
export class CallsController {
  constructor(
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly replayCall: ReplayCallService,
    private readonly decideApproval: DecideApprovalService,
    private readonly reader: CallReader,
  ) {}

  @RequireScope('submit')
  @Post('calls')
  async submit(
    @CurrentPrincipal() caller: Principal,
    @Body() body: unknown,
    @Headers() headers: SubmitHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { call } = await this.submitCall.submit(caller, parse(SubmitCallRequest, body, 'body'), callOptions(caller, headers, reply));
    sendCallResponse(reply, call, headers);
  }

  @RequireScope('submit')
  @Post('calls::quote')
  @HttpCode(200)
  async quote(@CurrentPrincipal() caller: Principal, @Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    reply.send(await this.submitCall.quote(caller, parse(SubmitCallRequest, body, 'body')));
  }

  @RequireScope('read')
  @Get('approvals')
  approvals(@CurrentPrincipal() caller: Principal, @Query() query: unknown): Promise<ApprovalPage> {
    return this.reader.approvals(caller, parse(ListApprovalsQuery, query, 'query'));
  }

  @RequireScope('read')
  @Get('calls/:id')
  read(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Query() query: unknown): Promise<Call> {
    const callId = parseCallId(id);
    const waitMs = parseWaitQuery(query);
    return waitMs === undefined ? this.reader.read(caller, callId) : this.reader.readEnded(caller, callId, waitMs);
  }

  @RequireScope('cancel')
  @Post('calls/:id/cancel')
  @HttpCode(202)
  cancel(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Call> {
    return this.cancelCall.cancel(caller, parseCallId(id), parse(CancelBody, body ?? {}, 'body'));
  }

  @RequireScope('approve')
  @Post('calls/:id/decision')
  @HttpCode(200)
  decide(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Call> {
    return this.decideApproval.decide(caller, parseCallId(id), parse(DecisionBody, body, 'body'));
  }

  @RequireScope('submit')
  @Post('calls/:id/replay')
  async replay(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @Body() body: unknown,
    @Headers() headers: SubmitHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { call } = await this.replayCall.replay(
      caller,
      parseCallId(id),
      parse(ReplayBody, body ?? {}, 'body'),
      callOptions(caller, headers, reply),
    );
    sendCallResponse(reply, call, headers);
  }
}
