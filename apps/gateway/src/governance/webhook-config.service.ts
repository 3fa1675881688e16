import { Inject, Injectable } from '@nestjs/common';
import type { WebhookSettings } from '#contracts';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ownEntry } from './by-agent.js';

type Settings = Pick<GatewayConfig, 'webhooks'>;

@Injectable()
export class WebhookConfigService {
  private active: Settings;
  private readonly listeners = new Set<() => void>();

  constructor(@Inject(GATEWAY_CONFIG) settings: Settings) {
    this.active = settings;
  }

  of(tenantId: string): readonly WebhookSettings[] {
    return ownEntry(this.active.webhooks, tenantId) ?? [];
  }

  all(): (readonly [tenantId: string, WebhookSettings])[] {
    return Object.entries(this.active.webhooks ?? {}).flatMap(([tenantId, list]) => list.map((settings) => [tenantId, settings] as const));
  }

  /** Calls `changed` after each change of the config, which must not throw. */
  onChange(changed: () => void): void {
    this.listeners.add(changed);
  }

  /** Calling the returned function activates the settings; it never throws. */
  prepare(settings: Settings): () => void {
    return () => {
      this.active = settings;
      for (const changed of this.listeners) changed();
    };
  }
}
