import { Controller, Headers, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ProblemError, ROUTES, type Principal, type UploadedBundle } from '#contracts';
import { Endpoint } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { BundlesService } from './bundles.service.js';

/** HTTP controller of uploaded files with MCP servers. */
@Controller()
export class BundlesController {
  constructor(private readonly bundles: BundlesService) {}

  @Endpoint(ROUTES.uploadBundle)
  upload(
    @CurrentPrincipal() caller: Principal,
    @Headers('repr-digest') digest: string | undefined,
    @Req() { body }: FastifyRequest,
  ): Promise<UploadedBundle> {
    if (!(body instanceof Readable))
      throw new ProblemError('unsupported_media_type', 'Expected the header Content-Type: application/octet-stream');
    return this.bundles.upload(caller, body, digest);
  }
}
