import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SystemEventLog } from '#event-log';
import { everyMs, type Ticker } from '#timing';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { WorkerRegistry } from './worker-registry.service.js';

/** Half the time without a heartbeat after which a worker counts as gone. */
const LOOK_MS = 5_000;

/** Publishes `worker.gone` for expired workers. Every gateway checks; the log accepts the first event of a worker. */
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

  /** Never rejects: the next check publishes missing events. */
  private async check(): Promise<void> {
    try {
      const announced = await this.systemEvents.announcedWorkers();
      // Reads the registry second: a worker registers before it is announced, and is announced as gone before it unregisters.
      const lost = await this.registry.expired(announced);
      const author = { source: `/gateway/${this.config.name}`, actor: 'system:gateway' };
      for (const id of lost) await this.systemEvents.ofWorker(id, 'worker.gone', { how: 'lost' }, author);
    } catch (error) {
      this.log.debug({ err: error }, 'could not look for lost workers');
    }
  }
}
