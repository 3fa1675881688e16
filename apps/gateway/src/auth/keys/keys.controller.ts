import { Controller, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Label, ROUTES, type ApiKey, type ApiKeyPage, type BodyOf, type IssuedKey, type Principal } from '#contracts';
import { ZodPipe } from '../../platform/http/zod.pipe.js';
import { Endpoint, RouteBody } from '../endpoint.decorator.js';
import { CurrentPrincipal } from '../principal.decorator.js';
import { KeysService } from './keys.service.js';

const ID = new ZodPipe(Label);

@Controller()
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Endpoint(ROUTES.listKeys)
  async list(@CurrentPrincipal() caller: Principal): Promise<ApiKeyPage> {
    return { keys: await this.keys.list(caller) };
  }

  @Endpoint(ROUTES.createKey)
  @Header('Cache-Control', 'no-store')
  async create(
    @CurrentPrincipal() caller: Principal,
    @RouteBody() body: BodyOf<typeof ROUTES.createKey>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedKey> {
    const key = await this.keys.create(caller, body);
    reply.header('Location', `/v1/keys/${key.id}`);
    return key;
  }

  @Endpoint(ROUTES.getKey)
  get(@CurrentPrincipal() caller: Principal, @Param('id', ID) id: string): Promise<ApiKey> {
    return this.keys.get(caller, id);
  }

  @Endpoint(ROUTES.rotateKey)
  @Header('Cache-Control', 'no-store')
  rotate(
    @CurrentPrincipal() caller: Principal,
    @Param('id', ID) id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.rotateKey>,
  ): Promise<IssuedKey> {
    return this.keys.rotate(caller, id, body);
  }

  @Endpoint(ROUTES.revokeKey)
  revoke(@CurrentPrincipal() caller: Principal, @Param('id', ID) id: string): Promise<void> {
    return this.keys.revoke(caller, id);
  }
}
