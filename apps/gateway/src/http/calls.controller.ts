import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CancelBody, DecisionBody, ListApprovalsQuery, ReplayBody, type ApprovalPage, type Call, type Principal } from '#contracts';
import { CallReader } from '../calls/call-reader.service.js';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { DecideApprovalService } from '../calls/decide-approval.service.js';
import { ReplayCallService } from '../calls/replay-call.service.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { Caller, Needs } from './caller.decorator.js';
import { answerWith } from './call-answer.js';
import { parse, parseCallId, parseWaitQuery } from './parse.js';
import { callOptions, type SubmitHeaders } from './submit-headers.js';
import { SubmitCallDoor } from './submit-call-door.js';

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

  @Needs('submit')
  @Post('calls')
  async submit(
    @Caller() caller: Principal,
    @Body() body: unknown,
    @Headers() headers: SubmitHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { call } = await this.submitCall.submit(caller, parse(SubmitCallDoor, body, 'body'), callOptions(caller, headers, reply));
    answerWith(reply, call, headers);
  }

  @Needs('submit')
  @Post('calls::quote')
  @HttpCode(200)
  async quote(@Caller() caller: Principal, @Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    reply.send(await this.submitCall.quote(caller, parse(SubmitCallDoor, body, 'body')));
  }

  @Needs('read')
  @Get('approvals')
  approvals(@Caller() caller: Principal, @Query() query: unknown): Promise<ApprovalPage> {
    return this.reader.approvals(caller, parse(ListApprovalsQuery, query, 'query'));
  }

  @Needs('read')
  @Get('calls/:id')
  read(@Caller() caller: Principal, @Param('id') id: string, @Query() query: unknown): Promise<Call> {
    const callId = parseCallId(id);
    const waitMs = parseWaitQuery(query);
    return waitMs === undefined ? this.reader.read(caller, callId) : this.reader.readEnded(caller, callId, waitMs);
  }

  @Needs('cancel')
  @Post('calls/:id/cancel')
  @HttpCode(202)
  cancel(@Caller() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Call> {
    return this.cancelCall.cancel(caller, parseCallId(id), parse(CancelBody, body ?? {}, 'body'));
  }

  @Needs('approve')
  @Post('calls/:id/decision')
  @HttpCode(200)
  decide(@Caller() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Call> {
    return this.decideApproval.decide(caller, parseCallId(id), parse(DecisionBody, body, 'body'));
  }

  @Needs('submit')
  @Post('calls/:id/replay')
  async replay(
    @Caller() caller: Principal,
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
    answerWith(reply, call, headers);
  }
}
