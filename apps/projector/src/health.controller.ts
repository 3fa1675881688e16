import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { HistoryProjector } from '#history';
import type { Metrics } from '#observability';
import { Health } from '#platform';
import { Archiver } from '#sealing';
import type { ProjectorConfig } from './projector.config.js';
import { METRICS, PROJECTOR_CONFIG } from './projector.tokens.js';

/** For probes and scrapers. */
@Controller()
export class HealthController {
  private readonly health: Health<object>;

  constructor(
    @Inject(HistoryProjector) projector: HistoryProjector | undefined,
    @Inject(Archiver) archiver: Archiver | undefined,
    @Inject(METRICS) metrics: Metrics,
    @Inject(PROJECTOR_CONFIG) { metricsKey }: Pick<ProjectorConfig, 'metricsKey'>,
  ) {
    this.health = new Health({
      notReadyReason: () => Promise.resolve(projector?.failure ?? archiver?.failure),
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
