import { Body, Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { Label, PutSessionBody, type Principal, type Session } from '#contracts';
import { SessionStore } from '../sessions/session-store.service.js';
import { Caller, Needs } from './caller.decorator.js';
import { parse } from './parse.js';

/** How freely the tools of a session may act, and what people granted to it. */
@Controller('v1/sessions/:id')
export class SessionsController {
  constructor(private readonly sessions: SessionStore) {}

  @Needs('read')
  @Get()
  read(@Caller() caller: Principal, @Param('id') id: string): Promise<Session> {
    return this.sessions.read(caller.tenantId, parse(Label, id, 'path'));
  }

  @Needs('admin')
  @Put()
  write(@Caller() caller: Principal, @Param('id') id: string, @Body() body: unknown): Promise<Session> {
    return this.sessions.write(caller, parse(Label, id, 'path'), parse(PutSessionBody, body, 'body'));
  }

  @Needs('admin')
  @Delete()
  @HttpCode(204)
  end(@Caller() caller: Principal, @Param('id') id: string): Promise<void> {
    return this.sessions.end(caller, parse(Label, id, 'path'));
  }
}
