import type { Call, ListCallsQuery } from '#contracts';
import { upcastSubmitted } from '../call/upcasters.js';
import type { CallMeta } from '../event-log.port.js';

/** What the scan knows of a call before it reads the rest of its events. */
export interface Candidate {
  readonly callId: string;
  readonly seq: number;
  readonly time: number;
  readonly meta: CallMeta;
  /** Stored text of `call.submitted`. */
  readonly text: string;
}

/** Can the call be on the list, as far as its submission tells? Another tenant's calls never pass. */
export function mayMatch(candidate: Candidate, tenantId: string, query: ListCallsQuery): boolean {
  const { meta, time } = candidate;
  if (meta.tenantId !== tenantId) return false;
  if (!isAnyOf(query.tool, meta.tool) || !isAnyOf(query.sessionId, meta.sessionId) || !isAnyOf(query.agentId, meta.agentId)) return false;
  if (query.since !== undefined && time < Date.parse(query.since)) return false;
  if (query.until !== undefined && time > Date.parse(query.until)) return false;
  return query.q === undefined || mentions(candidate, query.q);
}

/** The filters that only the whole call can answer. */
export function matches(call: Call, query: ListCallsQuery): boolean {
  return isAnyOf(query.status, call.status) && isAnyOf(query.outcome, call.outcome);
}

function isAnyOf(wanted: readonly string[] | undefined, value: string | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.includes(value));
}

/** Free text is looked for in tool, labels, ids and the text of the arguments, upper and lower case alike. */
function mentions({ callId, meta, text }: Candidate, q: string): boolean {
  const { tool, requestedTool, labels, toolCallId, batchId, parentCallId, ...data } = upcastSubmitted(text);
  const args = data.argumentsRef?.preview ?? JSON.stringify(data.arguments);
  const ids = [callId, meta.sessionId, meta.agentId, toolCallId, batchId, parentCallId];
  const needle = q.toLowerCase();
  return [tool, requestedTool, ...Object.entries(labels).flat(), ...ids, args].some((value) => value?.toLowerCase().includes(needle));
}
