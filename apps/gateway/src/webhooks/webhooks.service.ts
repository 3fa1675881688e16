import { Injectable } from '@nestjs/common';
import {
  ProblemError,
  type ListDeliveriesQuery,
  type Principal,
  type WebhookDelivery,
  type WebhookSettings,
  type WebhookStatus,
} from '#contracts';
import { AdminActs } from '../auth/admin-acts.service.js';
import { WebhookConfigService } from '../governance/webhook-config.service.js';
import { WebhookRunners } from './webhook-runners.service.js';
import { noWebhook, WebhookStore, type DeliveryState, type FoundDelivery } from './webhook-store.service.js';

/** Webhooks in the view of a tenant's administrators, and retries. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly config: WebhookConfigService,
    private readonly store: WebhookStore,
    private readonly runners: WebhookRunners,
    private readonly acts: AdminActs,
  ) {}

  async list({ tenantId }: Principal): Promise<WebhookStatus[]> {
    return Promise.all(this.config.of(tenantId).map((settings) => this.statusOf(tenantId, settings)));
  }

  async deliveries(
    { tenantId }: Principal,
    name: string,
    { state, limit }: ListDeliveriesQuery,
  ): Promise<{ deliveries: WebhookDelivery[] }> {
    const found = await this.store.list(this.webhook(tenantId, name), state, limit);
    return { deliveries: found.map((delivery) => view(delivery, state)) };
  }

  /** @throws ProblemError `resource_not_found`, or `conflict` for a delivery that is not dead */
  async retry(principal: Principal, name: string, id: string): Promise<WebhookDelivery> {
    const webhook = this.webhook(principal.tenantId, name);
    const found = await this.store.find(webhook, id, 'dead');
    const now = Date.now();
    const again = found && { ...found[0], attempts: 0 };
    if (again !== undefined) {
      // Records the act first: a repetition would not find a dead delivery.
      await this.acts.admit(principal, { revokes: false }).record('admin.delivery_retried', {
        target: id,
        after: { webhook: name, type: again.type, callId: again.callId },
      });
      if (await this.store.move(webhook, again, 'dead', 'waiting', now)) {
        this.runners.poke(webhook);
        return view([again, now], 'waiting');
      }
    }
    if (await this.store.has(webhook, id))
      throw new ProblemError('conflict', 'The delivery waits or has arrived: only a dead one is sent again');
    throw new ProblemError('resource_not_found', 'No delivery with this id is kept');
  }

  private async statusOf(tenantId: string, { name, url, types }: WebhookSettings): Promise<WebhookStatus> {
    const count = (state: DeliveryState) => this.store.count(`${tenantId}/${name}`, state);
    const [waiting, delivered, dead] = await Promise.all([count('waiting'), count('delivered'), count('dead')]);
    return { name, host: new URL(url).host, types, waiting, delivered, dead };
  }

  private webhook(tenantId: string, name: string): string {
    if (!this.config.of(tenantId).some((settings) => settings.name === name)) throw noWebhook(name);
    return `${tenantId}/${name}`;
  }
}

function view([{ id, type, callId, tool, time, attempts, lastError }, at]: FoundDelivery, state: DeliveryState): WebhookDelivery {
  const when = new Date(at).toISOString();
  return {
    id,
    type,
    callId,
    tool,
    time: new Date(time).toISOString(),
    state,
    attempts,
    ...(state === 'waiting' ? { nextAttemptAt: when } : { endedAt: when }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}
