import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from 'pino';
import { ProblemError } from '#contracts';
import { GatewayRequestConsumer } from '#queue';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { GatewayTools } from '../gateway-tools/gateway-tools.service.js';
import { AgentTurns, CallOverError } from './agent-turns.service.js';

/**
 * Consumes the requests of sub-agents, and of tools that only gateways can run. Any gateway handles one; after a crash another
 * one repeats it.
 */
@Injectable()
export class GatewayRequestsService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly consumer: GatewayRequestConsumer;

  constructor(
    private readonly turns: AgentTurns,
    private readonly tools: GatewayTools,
    @Inject(LOGGER) logger: Logger,
    @Inject(GATEWAY_CONFIG) { redisUrl }: GatewayConfig,
  ) {
    this.consumer = new GatewayRequestConsumer(redisUrl, (error) =>
      logger.warn({ err: error }, 'a request of a worker failed; it is tried again'),
    );
  }

  onApplicationBootstrap(): void {
    this.consumer.start(async (request) => {
      try {
        if (request.kind === 'tool') return JSON.stringify(await this.tools.run(request));
        return JSON.stringify(request.kind === 'open' ? await this.turns.open(request) : await this.turns.submit(request));
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code === 'overloaded') throw error;
        return JSON.stringify({ kind: 'refused', message: error.detail, isOver: error instanceof CallOverError });
      }
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.consumer.close();
  }
}
