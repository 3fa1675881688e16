import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ROUTES, SCOPES, type Principal, type ProtectedResource } from '#contracts';
import { Authenticator } from '../auth/authenticator.service.js';
import { Endpoint } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { publicUrlOf } from '../platform/http/public-url.js';
import { McpEndpoint } from './mcp-endpoint.service.js';

/** Model Context Protocol over HTTP, and the metadata by which clients find their authorization server. */
@Controller()
export class McpController {
  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly authenticator: Authenticator,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'publicUrl'>,
  ) {}

  @Endpoint(ROUTES.postMcp)
  message(@CurrentPrincipal() caller: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.endpoint.handle(caller, request, reply);
  }

  @Endpoint(ROUTES.getMcp)
  notifications(@CurrentPrincipal() caller: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.endpoint.handle(caller, request, reply);
  }

  @Endpoint(ROUTES.deleteMcp)
  end(@CurrentPrincipal() caller: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.endpoint.handle(caller, request, reply);
  }

  @Endpoint(ROUTES.getMcpResource)
  resource(@Req() request: FastifyRequest): ProtectedResource {
    return this.metadata(request);
  }

  @Endpoint(ROUTES.getProtectedResource)
  metadata(@Req() request: FastifyRequest): ProtectedResource {
    const { issuers } = this.authenticator;
    return {
      resource: `${publicUrlOf(request, this.config.publicUrl)}/mcp`,
      resource_name: 'Toolyard',
      ...(issuers.length === 0 ? {} : { authorization_servers: [...issuers] }),
      bearer_methods_supported: ['header'],
      scopes_supported: [...SCOPES],
    };
  }
}
