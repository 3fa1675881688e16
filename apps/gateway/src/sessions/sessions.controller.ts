import { Body, Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { Label, PutSessionBody, type Principal, type Session } from '#contracts';
import { SessionStore } from './session-store.service.js';
import { CurrentPrincipal, RequireScope } from '../auth/principal.decorator.js';
import { parse } from '../platform/http/parse.js';

/** How freely the tools of a session may act, and what people granted to it. */
@Controller('v1/sessions/:id')
export class SessionsController {
  constructor(private readonly sessions: SessionStore) {}

  @RequireScope('read')
  @Get()
  read(@CurrentPrincipal() caller: Principal, @Param('id') id: string): Promise<Session> {
    return this.sessions.read(caller.tenantId, parse(Label, id, 'path'));
  }

  @RequireScope('admin')
  @Put()
  write(@CurrentPrincipal() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Session> {
    return this.sessions.write(caller, parse(Label, id, 'path'), parse(PutSessionBody, body, 'body'));
  }

  @RequireScope('admin')
  @Delete()
  @HttpCode(204)
  end(@CurrentPrincipal() caller: Principal, @Param('id') id: string): Promise<void> {
    return this.sessions.end(caller, parse(Label, id, 'path'));
  }
}
