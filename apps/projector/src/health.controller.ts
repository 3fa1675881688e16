import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Metrics } from '#observability';
import { Health } from '#platform';
import type { ProjectorConfig } from './projector.config.js';
import { LOOPS, METRICS, PROJECTOR_CONFIG } from './projector.tokens.js';
import type { RoundLoop } from './round-loop.js';

/** Endpoints for probes and scrapers. */
@Controller()
export class HealthController {
  private readonly health: Health<object>;

  constructor(
    @Inject(LOOPS) loops: readonly RoundLoop[],
    @Inject(METRICS) metrics: Metrics,
    @Inject(PROJECTOR_CONFIG) { metricsKey }: Pick<ProjectorConfig, 'metricsKey'>,
  ) {
    this.health = new Health({
      notReadyReason: () => Promise.resolve(loops.find(({ failure }) => failure !== undefined)?.failure),
      facts: () => ({}),
      metrics,
      metricsKey,
    });
  }

  @Get('livez')
  live(): { status: 'ok' } {
    return this.health.live();
  }

  @Get('readyz')
  ready(): Promise<{ status: 'ok' }> {
    return this.health.ready();
  }

  @Get('metrics')
  async scrape(@Headers('authorization') authorization: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    const { type, text } = await this.health.scrape(authorization);
    reply.type(type).send(text);
  }
}
