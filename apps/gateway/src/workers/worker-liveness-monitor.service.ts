import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SystemEventLog } from '#event-log';
import { everyMs, type Ticker } from '#timing';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { WorkerRegistry } from './worker-registry.service.js';

/** The interval of the workers' heartbeats. */
const LOOK_MS = 2_000;

/** Publishes `worker.gone` for workers that expired. Every gateway checks; the log takes the first event of a worker. */
@Injectable()
export class WorkerLivenessMonitor implements OnApplicationBootstrap, OnApplicationShutdown {
  private ticker: Ticker | undefined;

  constructor(
    private readonly registry: WorkerRegistry,
    private readonly systemEvents: SystemEventLog,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.ticker = everyMs(LOOK_MS, () => this.check());
  }

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
  }

  /** Never rejects: the next check publishes what is missing. */
  private async check(): Promise<void> {
    try {
      const announced = await this.systemEvents.announcedWorkers();
      // Read second: a worker registers before it is announced, and is announced as gone before it unregisters.
      const lost = await this.registry.expired(announced);
      const author = { source: `/gateway/${this.config.name}`, actor: 'system:gateway' };
      for (const id of lost) await this.systemEvents.ofWorker(id, 'worker.gone', { how: 'lost' }, author);
    } catch (error) {
      this.log.debug({ err: error }, 'could not look for lost workers');
    }
  }
}
