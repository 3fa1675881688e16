import { z } from 'zod';
import { EnvName, HookUrl } from '../hooks/hook.js';
import { CallOutcome } from '../calls/call.js';
import { AgentGlob } from '../values/principal.js';
import { Label } from '../values/names.js';
import { WEBHOOK_TYPES, WebhookType } from '../values/webhook-type.js';

/** Webhook of a tenant in the config file. */
export const WebhookSettings = z.strictObject({
  name: Label.describe('Names the webhook in routes and logs. A webhook of this name goes on where it was, also with another address.'),
  url: HookUrl.describe(
    'Where events are POSTed: an absolute http or https URL. Addresses that are not public need EGRESS_ALLOW_HOSTS. Redirects are not followed.',
  ),
  secretEnv: EnvName.describe(
    'The variable of the gateways with the key that signs each request (Standard Webhooks; `whsec_` and base64, or any text).',
  ),
  types: z
    .array(WebhookType)
    .min(1)
    .default([...WEBHOOK_TYPES])
    .describe('Only these events. Not set: approvals that begin to wait, that are decided, and ends of calls.'),
  tools: z.array(z.string().min(1).max(256)).min(1).optional().describe('Only calls of these tools, as names or globs. Not set: of all.'),
  agents: z.array(AgentGlob).min(1).optional().describe('Only calls of these agents, as names or globs. Not set: all calls.'),
  outcomes: z.array(CallOutcome).min(1).optional().describe('Of `call.end`: only these outcomes. Not set: all.'),
  attempts: z.int().min(1).max(20).default(10).describe('How often a delivery is tried; then it is dead, and sent again by a person only.'),
  retryMs: z
    .int()
    .min(10)
    .max(3_600_000)
    .default(5_000)
    .describe(
      'Milliseconds before the second try; each further wait is four times as long, at most 6 h. Not set: 10 tries take about a day.',
    ),
});
export type WebhookSettings = z.output<typeof WebhookSettings>;

export const Webhooks = z
  .array(WebhookSettings)
  .max(20)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'expected a different `name` for every webhook')
  .default([]);
