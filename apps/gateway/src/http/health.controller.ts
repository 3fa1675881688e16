import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ProblemError } from '#contracts';
import type { Metrics } from '#metrics';
import { Readiness } from '../lifecycle/readiness.service.js';
import { ConfigReload } from '../policy/config-reload.service.js';
import { METRICS } from '../tokens.js';
import { Public } from './caller.decorator.js';

/** For probes and scrapers, without a key: nothing here says anything about a tenant. */
@Public()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly configReload: ConfigReload,
    @Inject(METRICS) private readonly metrics: Metrics,
  ) {}

  /** Asks nobody, so that an outage of Redis never gets healthy processes killed. */
  @Get('livez')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready(): Promise<{ status: 'ok'; warnings?: string[] }> {
    const obstacle = await this.readiness.obstacle();
    if (obstacle !== undefined) throw new ProblemError('overloaded', obstacle, { retryAfterMs: 1000 });
    const { warning } = this.configReload;
    return { status: 'ok', ...(warning === undefined ? {} : { warnings: [warning] }) };
  }

  @Get('metrics')
  async scrape(@Res() reply: FastifyReply): Promise<void> {
    reply.type(this.metrics.contentType).send(await this.metrics.scrape());
  }
}
