import { LIMITS, type Call, type EventFilter } from '#contracts';
import type { CallStore, SubscriptionSources } from '#event-log';

/** Where subscriptions look up what the tail cannot tell them; the tenant of a filter bounds every answer. */
export function subscriptionSources(store: CallStore): SubscriptionSources {
  return {
    head: (callId) => store.head(callId),
    snapshot: (tenantId, filter) => snapshot(store, tenantId, filter),
  };
}

async function snapshot(store: CallStore, tenantId: string, { callId, sessionId, agentId, tool }: EventFilter): Promise<readonly Call[]> {
  if (callId !== undefined) {
    const call = await store.read(callId);
    return call?.tenantId === tenantId ? [call] : [];
  }
  const only = (value: string | undefined) => (value === undefined ? undefined : [value]);
  const { calls } = await store.list(tenantId, {
    sessionId: only(sessionId),
    agentId: only(agentId),
    tool: only(tool),
    limit: LIMITS.pageSize,
  });
  return calls;
}
