import { Controller, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ROUTES, type GatewayWarning } from '#contracts';
import type { Metrics } from '#observability';
import { Health } from '#platform';
import { GatewayWarnings } from './gateway-warnings.service.js';
import { Readiness } from './readiness.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { METRICS } from '../platform/tokens.js';
import { Endpoint } from '../auth/endpoint.decorator.js';

/** HTTP controller for probes and scrapers, without an API key. */
@Controller()
export class HealthController {
  private readonly health: Health<{ warnings?: GatewayWarning[] }>;

  constructor(
    readiness: Readiness,
    warnings: GatewayWarnings,
    @Inject(METRICS) metrics: Metrics,
    @Inject(GATEWAY_CONFIG) { metricsKey }: Pick<GatewayConfig, 'metricsKey'>,
  ) {
    const facts = () => {
      const current = warnings.current();
      return current.length === 0 ? {} : { warnings: current };
    };
    this.health = new Health({ notReadyReason: () => readiness.notReadyReason(), facts, metrics, metricsKey });
  }

  @Endpoint(ROUTES.live)
  live(): { status: 'ok' } {
    return this.health.live();
  }

  @Endpoint(ROUTES.ready)
  ready(): Promise<{ status: 'ok'; warnings?: GatewayWarning[] }> {
    return this.health.ready();
  }

  @Endpoint(ROUTES.metrics)
  async scrape(@Headers('authorization') authorization: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    const { type, text } = await this.health.scrape(authorization);
    reply.type(type).send(text);
  }
}
