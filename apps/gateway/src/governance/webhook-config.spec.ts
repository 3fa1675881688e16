import { expect, it } from '@jest/globals';
import { WebhookConfigService } from './webhook-config.service.js';

it.each(['constructor', '__proto__', 'toString'])('finds no webhooks for a tenant named %s, a member of every object', (tenant) => {
  expect(new WebhookConfigService({ webhooks: {} }).of(tenant)).toEqual([]);
});
