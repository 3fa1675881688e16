import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { WebhookRunners } from './webhook-runners.service.js';
import { WebhookSender } from './webhook-sender.service.js';
import { WebhookStore } from './webhook-store.service.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

/** Sends events of calls to programs of tenants. */
@Module({
  imports: [GovernanceModule],
  controllers: [WebhooksController],
  providers: [WebhookStore, WebhookSender, WebhookRunners, WebhooksService],
})
export class WebhooksModule {}
