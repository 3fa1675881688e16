import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { EventHub } from '#event-log';
import { WebhookConfigService } from '../governance/webhook-config.service.js';
import { LOGGER } from '../platform/tokens.js';
import { WebhookRunner } from './webhook-runner.js';
import { WebhookSender } from './webhook-sender.service.js';
import { WebhookStore } from './webhook-store.service.js';

@Injectable()
export class WebhookRunners implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly running = new Map<string, WebhookRunner>();
  private readonly who = randomUUID();
  private changes: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly config: WebhookConfigService,
    private readonly store: WebhookStore,
    private readonly sender: WebhookSender,
    private readonly hub: EventHub,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.config.onChange(() => this.apply());
    this.apply();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    await this.changes;
    await Promise.all([...this.running.values()].map((runner) => runner.close()));
    await this.sender.close();
  }

  /** Tries due deliveries of a webhook. A runner on another gateway does so within seconds. */
  poke(webhook: string): void {
    this.running.get(webhook)?.poke();
  }

  private apply(): void {
    this.changes = this.changes.then(async () => {
      if (this.closed) return;
      const wanted = new Map(this.config.all().map(([tenantId, settings]) => [`${tenantId}/${settings.name}`, { tenantId, settings }]));
      const stale = [...this.running].filter(([webhook, { settings }]) => !isDeepStrictEqual(wanted.get(webhook)?.settings, settings));
      await Promise.all(stale.map(([, runner]) => runner.close()));
      for (const [webhook] of stale) this.running.delete(webhook);
      const { store, sender, hub, log, who } = this;
      for (const [webhook, { tenantId, settings }] of wanted)
        if (!this.running.has(webhook)) this.running.set(webhook, new WebhookRunner(tenantId, settings, { store, sender, hub, log, who }));
    });
  }
}
