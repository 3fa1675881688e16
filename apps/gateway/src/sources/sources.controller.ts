import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  ROUTES,
  SourceName,
  type BeginSourceAuthorization,
  type BodyOf,
  type Principal,
  type Source,
  type SourceAuthorizationRevoked,
  type SourcePage,
  type SourceSummary,
} from '#contracts';
import { Endpoint, RouteBody } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { publicUrlOf } from '../platform/http/public-url.js';
import { ZodPipe } from '../platform/http/zod.pipe.js';
import { SourceAuthorizations } from './source-authorizations.service.js';
import { SourcesService } from './sources.service.js';

/** HTTP controller of tool sources: health, pending changes, adding and removing. */
@Controller()
export class SourcesController {
  constructor(
    private readonly sources: SourcesService,
    private readonly authorizations: SourceAuthorizations,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'publicUrl'>,
  ) {}

  @Endpoint(ROUTES.listSources)
  async list(@CurrentPrincipal() caller: Principal): Promise<SourcePage> {
    return { sources: await this.sources.list(caller) };
  }

  @Endpoint(ROUTES.getSource)
  read(@CurrentPrincipal() caller: Principal, @Param('name', new ZodPipe(SourceName)) name: string): Promise<Source> {
    return this.sources.read(caller, name);
  }

  @Endpoint(ROUTES.addSource)
  async add(
    @CurrentPrincipal() caller: Principal,
    @RouteBody() body: BodyOf<typeof ROUTES.addSource>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SourceSummary> {
    const source = await this.sources.add(caller, body);
    reply.header('Location', `/v1/sources/${source.name}`);
    return source;
  }

  @Endpoint(ROUTES.removeSource)
  remove(@CurrentPrincipal() caller: Principal, @Param('name', new ZodPipe(SourceName)) name: string): Promise<void> {
    return this.sources.remove(caller, name);
  }

  @Endpoint(ROUTES.acceptSource)
  accept(
    @CurrentPrincipal() caller: Principal,
    @Param('name', new ZodPipe(SourceName)) name: string,
    @RouteBody() body: BodyOf<typeof ROUTES.acceptSource>,
  ): Promise<Source> {
    return this.sources.accept(caller, name, body);
  }

  @Endpoint(ROUTES.beginSourceAuthorization)
  authorize(
    @CurrentPrincipal() caller: Principal,
    @Param('name', new ZodPipe(SourceName)) name: string,
    @Req() request: FastifyRequest,
  ): Promise<BeginSourceAuthorization> {
    return this.authorizations.begin(caller, name, publicUrlOf(request, this.config.publicUrl));
  }

  @Endpoint(ROUTES.finishSourceAuthorization)
  async authorized(
    @CurrentPrincipal() caller: Principal,
    @RouteBody() { url }: BodyOf<typeof ROUTES.finishSourceAuthorization>,
  ): Promise<Source> {
    return this.sources.read(caller, await this.authorizations.finish(caller, url));
  }

  @Endpoint(ROUTES.revokeSourceAuthorization)
  revoke(@CurrentPrincipal() caller: Principal, @Param('name', new ZodPipe(SourceName)) name: string): Promise<SourceAuthorizationRevoked> {
    return this.authorizations.revoke(caller, name);
  }
}
