import { z } from 'zod';
import { WebhookType, type WebhookSettings } from '#contracts';
import type { StoredEvent } from '#event-log';
import { globMatches } from '#patterns';
import type { StoredDelivery } from './webhook-store.service.js';

const Envelope = z.object({
  actor: z.string(),
  data: z.object({ outcome: z.string().optional(), decision: z.enum(['allow', 'deny']).optional() }),
});

/** Delivery of an event to the webhook; undefined for an event that it does not subscribe to. */
export function toDelivery(
  settings: WebhookSettings,
  { epoch, partition, seq, callId, type, time, meta, json }: StoredEvent,
): StoredDelivery | undefined {
  const wanted = WebhookType.safeParse(type);
  if (!wanted.success || !settings.types.includes(wanted.data)) return undefined;
  const { tools, agents, outcomes } = settings;
  if (tools !== undefined && !tools.some((glob) => globMatches(glob, meta.tool))) return undefined;
  const { agentId } = meta;
  if (agents !== undefined && (agentId === undefined || !agents.some((glob) => globMatches(glob, agentId)))) return undefined;
  const { actor, data } = Envelope.parse(JSON.parse(json));
  if (wanted.data === 'call.end' && outcomes !== undefined && !outcomes.some((outcome) => outcome === data.outcome)) return undefined;
  return {
    // Contains no dots, which separate the parts of the signed content.
    id: `evt_${epoch}-${partition}-${seq}`,
    type: wanted.data,
    callId,
    tool: meta.tool,
    actor,
    ...(wanted.data === 'call.approval_decided' && data.decision !== undefined ? { decision: data.decision } : {}),
    time,
    attempts: 0,
  };
}
