import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { mayScrape, type Metrics } from '#observability';
import { ProblemError, type WorkerStatus } from '#contracts';
import { SandboxRegistry } from '#sandbox';
import { Readiness } from './readiness.js';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { METRICS } from '../platform/worker.tokens.js';

/** For probes and scrapers. Nothing here says anything about a tenant. */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    @Inject(METRICS) private readonly metrics: Metrics,
    private readonly sandboxes: SandboxRegistry,
    @Inject(WORKER_CONFIG) private readonly config: Pick<WorkerConfig, 'metricsKey'>,
  ) {}

  /** Checks nothing: an answer shows that the event loop runs. */
  @Get('livez')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready(): Promise<{ status: 'ok'; sandbox: WorkerStatus['sandbox'] }> {
    const reason = await this.readiness.notReadyReason();
    if (reason !== undefined) throw new ProblemError('overloaded', reason, { retryAfterMs: 1000 });
    return { status: 'ok', sandbox: this.sandboxes.status() };
  }

  @Get('metrics')
  async scrape(@Headers('authorization') authorization: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    if (!mayScrape(this.config.metricsKey, authorization))
      throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <METRICS_KEY>');
    reply.type(this.metrics.contentType).send(await this.metrics.scrape());
  }
}
