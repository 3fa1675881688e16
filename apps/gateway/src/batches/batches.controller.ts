import { Controller, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  BatchId,
  Label,
  ProblemError,
  ROUTES,
  type Batch,
  type BodyOf,
  type Principal,
  type QueryOf,
  type SessionCancelled,
  type SessionMessages,
  type Steered,
  BATCH_LIMITS,
  BatchCallBody,
  SubmitBatchBody,
} from '#contracts';
import { BatchReader } from './batch-reader.service.js';
import { CancelBatchService } from './cancel-batch.service.js';
import { CancelSessionService } from './cancel-session.service.js';
import { SteerSessionService } from './steer-session.service.js';
import { SubmitBatchService } from './submit-batch.service.js';
import { Endpoint, RouteBody, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { parsePreferWait } from '../platform/http/parse.js';
import { ZodPipe } from '../platform/http/zod.pipe.js';
import { submitOptions, type SubmitHeaders } from '../calls/submit-headers.js';
import { z } from 'zod';
import { SubmitCallRequest } from '../calls/submit-call-request.js';

/** SubmitBatchBody for a body parsed from JSON; as for single calls, arguments are not walked again. */
const SubmitBatchRequest = z.strictObject({
  ...SubmitBatchBody.shape,
  calls: z
    .array(z.strictObject({ ...BatchCallBody.shape, arguments: SubmitCallRequest.shape.arguments }))
    .min(1)
    .max(BATCH_LIMITS.calls),
});

/** Calls of one model turn, and messages of people between them. */
@Controller()
export class BatchesController {
  constructor(
    private readonly submitBatch: SubmitBatchService,
    private readonly reader: BatchReader,
    private readonly steerSession: SteerSessionService,
    private readonly cancelSession: CancelSessionService,
    private readonly cancelBatch: CancelBatchService,
  ) {}

  @Endpoint(ROUTES.submitBatch)
  async submit(
    @CurrentPrincipal() caller: Principal,
    @RouteBody({ parsedBy: SubmitBatchRequest }) body: BodyOf<typeof ROUTES.submitBatch>,
    @Headers() headers: SubmitHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Batch> {
    const batch = await this.submitBatch.submit(caller, body, submitOptions(headers));
    reply.status(batch.status === 'ended' ? 200 : 202).header('Location', `/v1/batches/${batch.id}`);
    const wait = parsePreferWait(headers.prefer);
    if (wait !== undefined) reply.header('Preference-Applied', `wait=${wait}`);
    return batch;
  }

  @Endpoint(ROUTES.getBatch)
  read(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteQuery() { wait }: QueryOf<typeof ROUTES.getBatch>,
  ): Promise<Batch> {
    if (!BatchId.safeParse(id).success) throw new ProblemError('resource_not_found', 'No batch with this id');
    return wait === undefined ? this.reader.read(caller, id) : this.reader.readEnded(caller, id, wait * 1000);
  }

  @Endpoint(ROUTES.cancelBatch)
  stop(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.cancelBatch>,
  ): Promise<Batch> {
    if (!BatchId.safeParse(id).success) throw new ProblemError('resource_not_found', 'No batch with this id');
    return this.cancelBatch.cancel(caller, id, body);
  }

  @Endpoint(ROUTES.steerSession)
  steer(
    @CurrentPrincipal() caller: Principal,
    @Param('id', new ZodPipe(Label)) id: string,
    @RouteBody() { message }: BodyOf<typeof ROUTES.steerSession>,
  ): Promise<Steered> {
    return this.steerSession.steer(caller, id, message);
  }

  @Endpoint(ROUTES.listSteering)
  steering(@CurrentPrincipal() caller: Principal, @Param('id', new ZodPipe(Label)) id: string): Promise<SessionMessages> {
    return this.steerSession.list(caller, id);
  }

  @Endpoint(ROUTES.cancelSession)
  cancel(
    @CurrentPrincipal() caller: Principal,
    @Param('id', new ZodPipe(Label)) id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.cancelSession>,
  ): Promise<SessionCancelled> {
    return this.cancelSession.cancel(caller, id, body);
  }
}
