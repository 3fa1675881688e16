import type { Call } from '#contracts';
import type { NewCall } from '#event-log';
import type { JsonValue } from './new-call.js';

/** The call as it stands right after its first transition: the answer to a submission, without reading the log again. */
export function acceptedCall({ callId, meta, submitted, then }: NewCall, args: JsonValue, time: number): Call {
  const at = new Date(time).toISOString();
  const { tool, source, priority, labels, timeouts, decision, toolCallId, replayOf, purpose, batchId, parentCallId } = submitted;
  const end = then?.kind === 'refused' ? then.data : undefined;
  return {
    id: callId,
    tool,
    source,
    status: end ? 'ended' : then?.kind === 'approval' ? 'waiting_approval' : 'queued',
    arguments: args,
    attempt: 0,
    priority,
    tenantId: meta.tenantId,
    labels,
    timeouts,
    submittedAt: at,
    decision,
    ...(meta.sessionId === undefined ? {} : { sessionId: meta.sessionId }),
    ...(meta.agentId === undefined ? {} : { agentId: meta.agentId }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(replayOf === undefined ? {} : { replayOf }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(batchId === undefined ? {} : { batchId }),
    ...(parentCallId === undefined ? {} : { parentCallId }),
    ...(end ? { outcome: end.outcome, endedAt: at } : { waiting: waitingFor(then, time) }),
    ...(end?.error === undefined ? {} : { error: end.error }),
    ...(end?.result === undefined ? {} : { result: end.result }),
  };
}

function waitingFor(then: NewCall['then'], time: number): NonNullable<Call['waiting']> {
  if (then?.kind !== 'approval') return { reason: 'queued', detail: 'Waits for a free worker' };
  const until = new Date(time + then.data.expiresInMs).toISOString();
  return { reason: 'approval', detail: then.data.reasons.join('; '), until };
}
