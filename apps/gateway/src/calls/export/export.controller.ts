import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { EXPORT_TYPES, ProblemError, ROUTES, type ExportFormat, type Principal, type QueryOf } from '#contracts';
import { assertScope } from '../../auth/access.js';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { Endpoint, RouteQuery } from '../../auth/endpoint.decorator.js';
import { OpenSockets } from '../../auth/open-sockets.service.js';
import { CurrentPrincipal } from '../../auth/principal.decorator.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { LOGGER } from '../../platform/tokens.js';
import { ExportCalls, type ExportedEvent } from './export-calls.service.js';

/** Time without progress after which a client counts as disconnected. */
const STALLED_MS = 120_000;

/** Exports, which are streams of any length: each counts as an open stream of its key, and ends with the key. */
@Controller()
export class ExportController {
  constructor(
    private readonly exports: ExportCalls,
    private readonly apiKeys: ApiKeyStore,
    private readonly openSockets: OpenSockets,
    private readonly shutdown: ShutdownState,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  @Endpoint(ROUTES.exportCalls)
  async export(
    @CurrentPrincipal() caller: Principal,
    @RouteQuery() { format, acts, ...filter }: QueryOf<typeof ROUTES.exportCalls>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (this.shutdown.draining) throw new ProblemError('overloaded', 'This gateway is going away; connect again', { retryAfterMs: 1000 });
    const headers = { 'content-type': EXPORT_TYPES[format], 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };
    if (request.method === 'HEAD') return void reply.headers(headers).send();
    const place = this.openSockets.open(request.raw, caller);
    try {
      if (acts) assertScope(caller, 'admin');
      const events = await this.exports.open(caller.tenantId, filter, acts);
      const refusal = this.apiKeys.rejection(caller, 'read');
      if (refusal !== undefined) throw refusal;
      const body = Readable.from(await encoded(format, events), { objectMode: false });
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value);
      reply.raw.writeHead(200, headers);
      reply.raw.flushHeaders();
      await this.send(caller, body, reply);
    } finally {
      place.release();
    }
  }

  /**
   * Sends the body until it ends or the connection is closed: the client disconnects or stalls, the key is revoked, or this
   * process drains.
   */
  private async send(caller: Principal, body: Readable, { raw }: FastifyReply): Promise<void> {
    // Destroys both: a body that waits for Redis closes only after the response of Redis.
    const cut = (why: string) => {
      body.destroy(new Error(why));
      raw.destroy();
    };
    const drain = () => cut('this gateway is going away');
    this.shutdown.signal.addEventListener('abort', drain);
    const unwatch = this.apiKeys.watch(caller, 'read', ({ code }) => cut(`the key was lost: ${code}`));
    raw.setTimeout(STALLED_MS, () => cut('the client takes nothing'));
    try {
      await pipeline(body, raw);
    } catch (error) {
      raw.destroy();
      this.log.warn({ err: error, tenantId: caller.tenantId }, 'an export was aborted');
    } finally {
      this.shutdown.signal.removeEventListener('abort', drain);
      unwatch();
    }
  }
}

/** Loads the Parquet writer on first use. */
async function encoded(format: ExportFormat, events: AsyncIterable<readonly ExportedEvent[]>): Promise<AsyncIterable<string | Uint8Array>> {
  return format === 'jsonl' ? eventLines(events) : (await import('./event-rows.js')).eventRows(events);
}

async function* eventLines(batches: AsyncIterable<readonly ExportedEvent[]>): AsyncGenerator<string> {
  for await (const events of batches) if (events.length > 0) yield events.map(({ json }) => `${json}\n`).join('');
}
