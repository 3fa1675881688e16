import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  BatchId,
  CancelBody,
  Label,
  ProblemError,
  SteerBody,
  type Batch,
  type Principal,
  type SessionCancelled,
  type Steered,
} from '#contracts';
import { BatchReader } from './batch-reader.service.js';
import { CancelBatchService } from './cancel-batch.service.js';
import { CancelSessionService } from './cancel-session.service.js';
import { SteerSessionService } from './steer-session.service.js';
import { SubmitBatchService } from './submit-batch.service.js';
import { CurrentPrincipal, RequireScope } from '../auth/principal.decorator.js';
import { parse, parsePreferWait, parseWaitQuery } from '../platform/http/parse.js';
import { SubmitBatchRequest } from './submit-batch-request.js';
import { submitOptions, type SubmitHeaders } from '../calls/submit-headers.js';

/** The calls of one model turn, and a person's word in between. */
@Controller('v1')
export class BatchesController {
  constructor(
    private readonly submitBatch: SubmitBatchService,
    private readonly reader: BatchReader,
    private readonly steerSession: SteerSessionService,
    private readonly cancelSession: CancelSessionService,
    private readonly cancelBatch: CancelBatchService,
  ) {}

  @RequireScope('submit')
  @Post('batches')
  async submit(
    @CurrentPrincipal() caller: Principal,
    @Body() body: unknown,
    @Headers() headers: SubmitHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Batch> {
    const batch = await this.submitBatch.submit(caller, parse(SubmitBatchRequest, body, 'body'), submitOptions(headers));
    reply.status(batch.status === 'ended' ? 200 : 202).header('Location', `/v1/batches/${batch.id}`);
    const wait = parsePreferWait(headers.prefer);
    if (wait !== undefined) reply.header('Preference-Applied', `wait=${wait}`);
    return batch;
  }

  @RequireScope('read')
  @Get('batches/:id')
  read(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Query() query: unknown): Promise<Batch> {
    if (!BatchId.safeParse(id).success) throw new ProblemError('resource_not_found', 'No batch with this id');
    const waitMs = parseWaitQuery(query);
    return waitMs === undefined ? this.reader.read(caller, id) : this.reader.readEnded(caller, id, waitMs);
  }

  @RequireScope('cancel')
  @Post('batches/:id/cancel')
  @HttpCode(202)
  stop(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Batch> {
    if (!BatchId.safeParse(id).success) throw new ProblemError('resource_not_found', 'No batch with this id');
    return this.cancelBatch.cancel(caller, id, parse(CancelBody, body ?? {}, 'body'));
  }

  @RequireScope('submit')
  @Post('sessions/:id/steer')
  @HttpCode(202)
  steer(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Steered> {
    return this.steerSession.steer(caller, parse(Label, id, 'path'), parse(SteerBody, body, 'body').message);
  }

  @RequireScope('cancel')
  @Post('sessions/:id/cancel')
  @HttpCode(202)
  cancel(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<SessionCancelled> {
    return this.cancelSession.cancel(caller, parse(Label, id, 'path'), parse(CancelBody, body ?? {}, 'body'));
  }
}
