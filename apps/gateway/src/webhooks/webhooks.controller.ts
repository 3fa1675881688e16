import { Controller, Param } from '@nestjs/common';
import { Label, ROUTES, type Principal, type QueryOf, type ResponseOf, type WebhookDelivery, type WebhookStatus } from '#contracts';
import { Endpoint, RouteQuery } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';
import { ZodPipe } from '../platform/http/zod.pipe.js';
import { WebhooksService } from './webhooks.service.js';

const NAME = new ZodPipe(Label);
const ID = new ZodPipe(ROUTES.retryDelivery.params.shape.id);

/** HTTP controller of a tenant's webhooks and their deliveries. */
@Controller()
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Endpoint(ROUTES.listWebhooks)
  async list(@CurrentPrincipal() caller: Principal): Promise<{ webhooks: WebhookStatus[] }> {
    return { webhooks: await this.webhooks.list(caller) };
  }

  @Endpoint(ROUTES.listDeliveries)
  deliveries(
    @CurrentPrincipal() caller: Principal,
    @Param('name', NAME) name: string,
    @RouteQuery() query: QueryOf<typeof ROUTES.listDeliveries>,
  ): Promise<ResponseOf<typeof ROUTES.listDeliveries>> {
    return this.webhooks.deliveries(caller, name, query);
  }

  @Endpoint(ROUTES.retryDelivery)
  retry(@CurrentPrincipal() caller: Principal, @Param('name', NAME) name: string, @Param('id', ID) id: string): Promise<WebhookDelivery> {
    return this.webhooks.retry(caller, name, id);
  }
}
