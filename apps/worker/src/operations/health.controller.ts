import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { WorkerStatus } from '#contracts';
import type { Metrics } from '#observability';
import { Health } from '#platform';
import { SandboxRegistry } from '#sandbox';
import { Readiness } from './readiness.js';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { METRICS } from '../platform/worker.tokens.js';

/** Endpoints for probes and scrapers. */
@Controller()
export class HealthController {
  private readonly health: Health<{ sandbox: WorkerStatus['sandbox'] }>;

  constructor(
    readiness: Readiness,
    @Inject(METRICS) metrics: Metrics,
    sandboxes: SandboxRegistry,
    @Inject(WORKER_CONFIG) { metricsKey }: Pick<WorkerConfig, 'metricsKey'>,
  ) {
    const facts = () => ({ sandbox: sandboxes.status() });
    this.health = new Health({ notReadyReason: () => readiness.notReadyReason(), facts, metrics, metricsKey });
  }

  @Get('livez')
  live(): { status: 'ok' } {
    return this.health.live();
  }

  @Get('readyz')
  ready(): Promise<{ status: 'ok'; sandbox: WorkerStatus['sandbox'] }> {
    return this.health.ready();
  }

  @Get('metrics')
  async scrape(@Headers('authorization') authorization: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    const { type, text } = await this.health.scrape(authorization);
    reply.type(type).send(text);
  }
}
