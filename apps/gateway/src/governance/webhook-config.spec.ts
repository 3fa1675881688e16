import { expect, it } from '@jest/globals';
import { WebhookConfigService } from './webhook-config.service.js';

it.each(['constructor', '__proto__', 'toString'])('finds no webhooks of a tenant named %s, as every object has it', (tenant) => {
  expect(new WebhookConfigService({ webhooks: {} }).of(tenant)).toEqual([]);
});
