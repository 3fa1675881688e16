import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, type Principal } from '#contracts';
import { CallReader } from '../calls/call-reader.service.js';
import { Caller, Needs } from './caller.decorator.js';
import { parseCallId } from './parse.js';

/** Events over HTTP: those of one call as JSON or live, and everything the key may see live. */
@Controller('v1')
export class EventsController {
  constructor(private readonly reader: CallReader) {}

  /** The stored texts are joined as they are; nothing is parsed on the way. */
  @Needs('read')
  @Get('calls/:id/events')
  async ofCall(@Caller() caller: Principal, @Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const callId = parseCallId(id);
    if (wantsStream(request)) throw new ProblemError('not_implemented', 'Event streams are not there yet');
    const events = await this.reader.events(caller, callId);
    reply.type('application/json; charset=utf-8').send(`{"events":[${events.map(({ json }) => json).join(',')}]}`);
  }

  @Needs('read')
  @Get('events')
  all(): never {
    throw new ProblemError('not_implemented', 'Event streams are not there yet');
  }
}

function wantsStream({ headers }: FastifyRequest): boolean {
  return /(?:^|,)\s*text\/event-stream/i.test(headers.accept ?? '');
}
