import { Controller, Headers, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ROUTES, type Principal, type QueryOf, type WorkerOutput } from '#contracts';
import { Endpoint, RouteQuery } from '../../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../../auth/principal.decorator.js';
import { parseCallId } from '../../platform/http/parse.js';
import { WorkerOutputs } from '../bridge/worker-outputs.service.js';

/** HTTP controller for outputs of workers that are too large for a frame. */
@Controller()
export class WorkerOutputController {
  constructor(private readonly outputs: WorkerOutputs) {}

  @Endpoint(ROUTES.putCallOutput)
  put(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @RouteQuery() { worker, fence }: QueryOf<typeof ROUTES.putCallOutput>,
    @Headers('repr-digest') digest: string | undefined,
    @Req() { body }: FastifyRequest,
  ): Promise<WorkerOutput> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    return this.outputs.put(principal, { callId: parseCallId(id), fence, worker }, bytes, digest);
  }
}
