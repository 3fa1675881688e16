import { Controller, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ProblemError, ROUTES } from '#contracts';
import { mayScrape, type Metrics } from '#observability';
import { Readiness } from './readiness.service.js';
import { ConfigReload } from '../governance/config-reload.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { METRICS } from '../platform/tokens.js';
import { Endpoint } from '../auth/endpoint.decorator.js';

/** For probes and scrapers, without an API key: nothing here says anything about a tenant. */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly configReload: ConfigReload,
    @Inject(METRICS) private readonly metrics: Metrics,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'metricsKey'>,
  ) {}

  /** Checks nothing: an outage of Redis must not get healthy processes killed. */
  @Endpoint(ROUTES.live)
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Endpoint(ROUTES.ready)
  async ready(): Promise<{ status: 'ok'; warnings?: string[] }> {
    const reason = await this.readiness.notReadyReason();
    if (reason !== undefined) throw new ProblemError('overloaded', reason, { retryAfterMs: 1000 });
    const { warning } = this.configReload;
    return { status: 'ok', ...(warning === undefined ? {} : { warnings: [warning] }) };
  }

  @Endpoint(ROUTES.metrics)
  async scrape(@Headers('authorization') authorization: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    if (!mayScrape(this.config.metricsKey, authorization))
      throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <METRICS_KEY>');
    reply.type(this.metrics.contentType).send(await this.metrics.scrape());
  }
}
