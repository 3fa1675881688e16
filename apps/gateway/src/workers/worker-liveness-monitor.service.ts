import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SystemEventLog } from '#event-log';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { WorkerRegistry } from './worker-registry.service.js';

/** As often as workers tell how they are. */
const LOOK_MS = 2_000;

/** Tells of workers that went without a word. Each gateway looks; the log takes the first that says it. */
@Injectable()
export class WorkerLivenessMonitor implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  private checking = false;

  constructor(
    private readonly registry: WorkerRegistry,
    private readonly systemEvents: SystemEventLog,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.check(), LOOK_MS);
    this.timer.unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Never rejects: whoever looks next finds what was not told. */
  private async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    try {
      const told = await this.systemEvents.announcedWorkers();
      // Looked at afterwards: a worker is on the list before it is told of, and told gone before it leaves the list.
      const lost = await this.registry.expired(told);
      const author = { source: `/gateway/${this.config.name}`, actor: 'system:gateway' };
      for (const id of lost) await this.systemEvents.ofWorker(id, 'worker.gone', { how: 'lost' }, author);
    } catch (error) {
      this.log.debug({ err: error }, 'could not look for lost workers');
    } finally {
      this.checking = false;
    }
  }
}
