import { z } from 'zod';
import { Call } from '../calls/call.js';
import { WEBHOOK_DELIVERY_EXAMPLES, WEBHOOK_MESSAGE_EXAMPLES } from '../values/examples.js';
import { Label } from '../values/names.js';
import { WebhookType } from '../values/webhook-type.js';
import { QueryNumber } from './call-list.api.js';
import { KEY, type Route } from './route.api.js';

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;

/** Message to a webhook. The header `webhook-id` is the same at each try, so that receivers can drop repetitions. */
export const WebhookMessage = z
  .object({
    type: WebhookType.describe('What happened.'),
    timestamp: z.string().describe('When it happened: RFC 3339, UTC.'),
    data: z
      .object({
        callId: z.string().describe('The call that it happened to.'),
        actor: z.string().describe('Who did it, such as `apikey:ci` or `worker:w1`.'),
        decision: z.enum(['allow', 'deny']).optional().describe('Of `call.approval_decided`. Absent of other types.'),
        call: Call.optional().describe('The call as it was when this was sent. Absent when it could not be read any more.'),
        url: z.string().optional().describe('The page of the call in the dashboard. Absent without GATEWAY_PUBLIC_URL.'),
      })
      .describe('About the call.'),
  })
  .meta({
    id: 'WebhookMessage',
    description: 'The body of a request to a webhook, signed by the Standard Webhooks specification.',
    examples: WEBHOOK_MESSAGE_EXAMPLES,
  });
export type WebhookMessage = z.output<typeof WebhookMessage>;

export const WebhookStatus = z
  .object({
    name: Label.describe('The name in the config file.'),
    host: z.string().describe('Where it goes. Its path is not shown: it may be a secret.'),
    types: z.array(WebhookType).describe('The events that it gets.'),
    waiting: z.number().int().describe('Deliveries that wait for a try.'),
    delivered: z.number().int().describe('Deliveries that are kept of those that arrived.'),
    dead: z.number().int().describe('Deliveries that are kept of those that were given up.'),
  })
  .meta({ id: 'Webhook', description: 'A webhook of the tenant.' });
export type WebhookStatus = z.output<typeof WebhookStatus>;

export const WebhookDelivery = z
  .object({
    id: z.string().describe('The header `webhook-id`.'),
    type: WebhookType.describe('What happened.'),
    callId: z.string().describe('The call that it happened to.'),
    tool: z.string().describe('The tool of the call.'),
    time: z.string().describe('When it happened: RFC 3339, UTC.'),
    state: z.enum(DELIVERY_STATES).describe('`dead`: given up; it is sent again when a person asks for it.'),
    attempts: z.number().int().describe('Tries so far.'),
    nextAttemptAt: z.string().optional().describe('When it is tried next: RFC 3339, UTC. Absent unless it waits.'),
    endedAt: z.string().optional().describe('When it arrived or was given up: RFC 3339, UTC. Absent while it waits.'),
    lastError: z.string().optional().describe('Why the last try failed. Absent if none did.'),
  })
  .meta({ id: 'WebhookDelivery', description: 'One event on its way to a webhook.', examples: WEBHOOK_DELIVERY_EXAMPLES });
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

export const ListDeliveriesQuery = z.object({
  state: z.enum(DELIVERY_STATES).default('waiting').describe('Which: those that wait, arrived, or were given up.'),
  limit: QueryNumber.min(1).max(200).default(50).describe('How many, 1 to 200.'),
});
export type ListDeliveriesQuery = z.output<typeof ListDeliveriesQuery>;

const params = z.object({ name: Label.describe('The name of the webhook.') });

export const WEBHOOK_ROUTES = {
  listWebhooks: {
    method: 'get',
    path: '/v1/webhooks',
    tag: 'webhooks',
    scope: 'admin',
    summary: 'The webhooks of the tenant, as the config file has them',
    responses: {
      200: {
        description: 'By name, with how many deliveries they have.',
        schema: z.object({ webhooks: z.array(WebhookStatus).describe('In the order of the config file.') }),
      },
    },
    problems: [...KEY, 'overloaded'],
  },
  listDeliveries: {
    method: 'get',
    path: '/v1/webhooks/{name}/deliveries',
    tag: 'webhooks',
    scope: 'admin',
    summary: 'What a webhook was sent, or is about to be',
    description: 'All that wait, the last 200 that arrived and the last 1,000 that were given up are kept, for 30 days.',
    params,
    query: ListDeliveriesQuery,
    responses: {
      200: {
        description: 'Those that wait by their next try, others newest first.',
        schema: z.object({ deliveries: z.array(WebhookDelivery).describe('At most `limit`.') }),
      },
    },
    problems: [...KEY, 'resource_not_found', 'overloaded'],
  },
  retryDelivery: {
    method: 'post',
    path: '/v1/webhooks/{name}/deliveries/{id}/retry',
    idempotent: true,
    tag: 'webhooks',
    scope: 'admin',
    summary: 'Send a delivery that was given up again, with all its tries',
    params: params.extend({ id: z.string().min(1).max(128).describe('The id of the delivery.') }),
    responses: { 202: { description: 'It waits now.', schema: WebhookDelivery } },
    problems: [...KEY, 'resource_not_found', 'conflict', 'overloaded'],
  },
} as const satisfies Record<string, Route>;
