import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SourceRules, type StoredSource } from '#contracts';
import type { RedisConnection } from '#redis';
import { SourceStore } from '#sources';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS, LOGGER } from '../platform/tokens.js';

const TRY_AGAIN_MS = 2_000;

export type SourceSettingsConfig = Pick<GatewayConfig, 'sources' | 'sourceRules'>;

/**
 * Publishes the sources of the config file to the workers through Redis, since workers read no config file. All gateways must
 * have the same file; the last start or reload counts.
 */
@Injectable()
export class SourceConfigService implements OnApplicationBootstrap, OnApplicationShutdown {
  private active: SourceSettingsConfig;
  private readonly store: SourceStore;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private onEnded: (ended: ReadonlyMap<StoredSource, string>) => void = () => {};

  constructor(
    @Inject(GATEWAY_CONFIG) config: SourceSettingsConfig,
    @Inject(FAIL_FAST_REDIS) redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.active = config;
    this.store = new SourceStore(redis);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.publish();
  }

  onApplicationShutdown(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  get rules(): SourceRules {
    return this.active.sourceRules ?? SourceRules.parse({});
  }

  /** Sets the consumer of ended sealed authorizations with their definitions. Called before the application starts. */
  whenEnded(consumer: (ended: ReadonlyMap<StoredSource, string>) => void): void {
    this.onEnded = consumer;
  }

  /** Calling the returned function activates the settings; it never throws. */
  prepare(config: SourceSettingsConfig): () => void {
    return () => {
      this.active = config;
      void this.publish();
    };
  }

  /** Retries until Redis has stored the sources. Never rejects. */
  private async publish(): Promise<void> {
    clearTimeout(this.timer);
    const { active } = this;
    const sources = (active.sources ?? []).map(({ tenant, ...definition }): StoredSource => ({
      tenantId: tenant,
      origin: 'config',
      definition,
    }));
    try {
      this.onEnded(await this.store.replaceConfigured(sources, this.rules));
    } catch (error) {
      this.log.warn({ err: error }, 'the sources of the config file could not be stored for the workers; it is tried again');
      if (!this.closed && this.active === active) this.timer = setTimeout(() => void this.publish(), TRY_AGAIN_MS).unref();
    }
  }
}
