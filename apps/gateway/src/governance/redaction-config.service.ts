import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SafetySettings, withTenantSafety } from '#contracts';
import { ContentAddressedStore, sha256Hex, type RedisConnection } from '#redis';
import { ContentSanitizer } from '#redaction';
import { everyMs, type Ticker } from '#timing';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER, FAIL_FAST_REDIS } from '../platform/tokens.js';
import { TenantRedaction } from './tenant-redaction.js';

const DEFAULTS = SafetySettings.parse({});
const DEFAULT_TEXT = JSON.stringify(DEFAULTS);
/** Interval far below the life of stored settings. */
const STORE_AGAIN_MS = 24 * 3_600_000;

export type SafetyConfig = Pick<GatewayConfig, 'safety' | 'secrets' | 'tenantRules'>;

interface ActiveSettings {
  /** Redaction of tenants without settings of their own. */
  readonly general: TenantRedaction;
  readonly byTenant: ReadonlyMap<string, TenantRedaction>;
  /** All settings that workers load by digest. */
  readonly texts: ReadonlySet<string>;
}

/** Active redaction settings of each tenant. Stores them for the workers. */
@Injectable()
export class RedactionConfigService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly store: ContentAddressedStore;
  private active: ActiveSettings;
  private ticker: Ticker | undefined;

  constructor(
    @Inject(GATEWAY_CONFIG) config: SafetyConfig,
    @Inject(FAIL_FAST_REDIS) redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.store = new ContentAddressedStore(redis);
    this.active = activeSettings(config);
  }

  /** Rejects if the settings cannot be stored: no worker could read them. */
  async onApplicationBootstrap(): Promise<void> {
    await this.storeAll(this.active);
    this.ticker = everyMs(STORE_AGAIN_MS, () => this.renewStored());
  }

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
  }

  /**
   * Prepares new settings and stores them for the workers. Calling the returned function activates them; it never throws.
   * Rejects if they cannot be stored: the previous settings then stay active.
   */
  async prepare(config: SafetyConfig): Promise<() => void> {
    const prepared = activeSettings(config);
    await this.storeAll(prepared);
    return () => void (this.active = prepared);
  }

  /** Redaction of this tenant's content: the general settings and the tenant's additions. */
  of(tenantId: string): TenantRedaction {
    return this.active.byTenant.get(tenantId) ?? this.active.general;
  }

  private async storeAll({ texts }: ActiveSettings): Promise<void> {
    await Promise.all([...texts].map((text) => this.store.put(text)));
  }

  /** Stores the active settings again, so that they do not expire. */
  private async renewStored(): Promise<void> {
    try {
      await this.storeAll(this.active);
    } catch (error) {
      this.log.error({ err: error }, 'the safety settings could not be stored again for the workers; the next try is in a day');
    }
  }
}

function activeSettings({ safety = DEFAULTS, secrets = [], tenantRules = {} }: SafetyConfig): ActiveSettings {
  const texts = new Set<string>();
  const redactionBy = (settings: SafetySettings) => {
    const text = JSON.stringify(settings);
    const sanitizer = ContentSanitizer.of(settings, { values: secrets });
    if (text === DEFAULT_TEXT) return new TenantRedaction(sanitizer, undefined);
    texts.add(text);
    return new TenantRedaction(sanitizer, sha256Hex(text));
  };
  const general = redactionBy(safety);
  const own = Object.entries(tenantRules).flatMap(([tenant, { safety: added }]) =>
    added === undefined ? [] : [[tenant, redactionBy(withTenantSafety(safety, added))] as const],
  );
  return { general, byTenant: new Map(own), texts };
}
