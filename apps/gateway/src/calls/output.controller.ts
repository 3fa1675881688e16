import { Controller, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import parseRange from 'range-parser';
import { ProblemError, ROUTES, type Principal } from '#contracts';
import { CallReader } from './read/call-reader.service.js';
import { Endpoint } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { parseCallId } from '../platform/http/parse.js';

/** Output of an ended call, whole or one range (RFC 9110, 14). */
@Controller()
export class OutputController {
  constructor(private readonly reader: CallReader) {}

  @Endpoint(ROUTES.getCallOutput)
  async read(
    @CurrentPrincipal() caller: Principal,
    @Param('id') id: string,
    @Headers('range') range: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const bytes = await this.reader.output(caller, parseCallId(id));
    reply.header('Accept-Ranges', 'bytes').type('text/plain; charset=utf-8');
    const part = rangeOf(range, bytes.length);
    if (part === 'all') {
      reply.send(bytes);
      return;
    }
    if (part === 'outside') {
      reply.header('Content-Range', `bytes */${bytes.length}`);
      throw new ProblemError('range_not_satisfiable', `The output has ${bytes.length} bytes`);
    }
    reply.status(206).header('Content-Range', `bytes ${part.start}-${part.end}/${bytes.length}`);
    reply.send(bytes.subarray(part.start, part.end + 1));
  }
}

/** Requested range. A malformed header, another unit or several ranges are ignored: the answer is the whole output. */
function rangeOf(header: string | undefined, size: number): 'all' | 'outside' | { start: number; end: number } {
  if (header === undefined) return 'all';
  const ranges = parseRange(size, header);
  if (ranges === -1) return 'outside';
  const [first] = ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 ? [] : ranges;
  return first ?? 'all';
}
