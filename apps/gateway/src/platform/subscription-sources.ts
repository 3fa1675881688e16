import { LIMITS, ProblemError, type Call, type CallPage, type EventFilter } from '#contracts';
import type { CallStore, SubscriptionSources } from '#event-log';
import type { CallQueries } from './call-queries.js';

/** Sources of subscriptions for data that the tail lacks. Every answer is limited to the filter's tenant. */
export function subscriptionSources(store: CallStore, queries: CallQueries): SubscriptionSources {
  return {
    callSnapshot: (callId) => store.snapshot(callId),
    snapshot: (tenantId, filter) => snapshot(store, queries, tenantId, filter),
  };
}

async function snapshot(
  store: CallStore,
  queries: CallQueries,
  tenantId: string,
  { callId, sessionId, agentId, tool }: EventFilter,
): Promise<readonly Call[]> {
  if (callId !== undefined) {
    const call = await store.read(callId);
    return call?.tenantId === tenantId ? [call] : [];
  }
  const filter = {
    ...(sessionId === undefined ? {} : { sessionId: [sessionId] }),
    ...(agentId === undefined ? {} : { agentId: [agentId] }),
    ...(tool === undefined ? {} : { tool: [tool] }),
  };
  const { calls } = await queries.page(tenantId, { ...filter, limit: LIMITS.pageSize }).catch(nothingWithoutHistory);
  const whole = await store.readSummaries(calls.map(({ id }) => id));
  return whole.filter((call) => call !== undefined);
}

/** Empty snapshot without history: the subscription continues without one. */
function nothingWithoutHistory(error: unknown): Pick<CallPage, 'calls'> {
  if (error instanceof ProblemError && error.code === 'history_unavailable') return { calls: [] };
  throw error;
}
