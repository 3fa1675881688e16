import { z } from 'zod';

export const WEBHOOK_TYPES = ['call.approval_requested', 'call.approval_decided', 'call.end'] as const;
export const WebhookType = z.enum(WEBHOOK_TYPES);
export type WebhookType = z.output<typeof WebhookType>;
