import { Controller, Param } from '@nestjs/common';
import { Label, ROUTES, type BodyOf, type Principal, type Session } from '#contracts';
import { SessionStore } from './session-store.service.js';
import { Endpoint, RouteBody } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { ZodPipe } from '../platform/http/zod.pipe.js';

/** HTTP controller of session settings: posture, tools and grants. */
@Controller()
export class SessionsController {
  constructor(private readonly sessions: SessionStore) {}

  @Endpoint(ROUTES.getSession)
  read(@CurrentPrincipal() caller: Principal, @Param('id', new ZodPipe(Label)) id: string): Promise<Session> {
    return this.sessions.read(caller.tenantId, id);
  }

  @Endpoint(ROUTES.putSession)
  write(
    @CurrentPrincipal() caller: Principal,
    @Param('id', new ZodPipe(Label)) id: string,
    @RouteBody() body: BodyOf<typeof ROUTES.putSession>,
  ): Promise<Session> {
    return this.sessions.write(caller, id, body);
  }

  @Endpoint(ROUTES.deleteSession)
  end(@CurrentPrincipal() caller: Principal, @Param('id', new ZodPipe(Label)) id: string): Promise<void> {
    return this.sessions.end(caller, id);
  }
}
