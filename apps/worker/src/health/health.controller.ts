import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Metrics } from '#metrics';
import { ProblemError, type WorkerStatus } from '#contracts';
import { SandboxRegistry } from '#tools';
import { Readiness } from '../lifecycle/readiness.js';
import { METRICS } from '../worker.tokens.js';

/** For probes and scrapers. Nothing here says anything about a tenant. */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    @Inject(METRICS) private readonly metrics: Metrics,
    private readonly sandboxes: SandboxRegistry,
  ) {}

  /** Asks nobody: that it answers shows that the event loop turns. */
  @Get('livez')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready(): Promise<{ status: 'ok'; sandbox: WorkerStatus['sandbox'] }> {
    const obstacle = await this.readiness.obstacle();
    if (obstacle !== undefined) throw new ProblemError('overloaded', obstacle, { retryAfterMs: 1000 });
    return { status: 'ok', sandbox: this.sandboxes.status() };
  }

  @Get('metrics')
  async scrape(@Res() reply: FastifyReply): Promise<void> {
    reply.type(this.metrics.contentType).send(await this.metrics.scrape());
  }
}
