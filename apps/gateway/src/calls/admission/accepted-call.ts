import { dataSchemaOf, type Call, type CallEvent, type CallEventType, type JsonValue } from '#contracts';
import { foldCall, isoTime, type NewCall } from '#event-log';

/** State of the call right after its first transition: answers a submission without reading the log again. */
export function acceptedCall(call: NewCall, args: JsonValue, time: number): Call {
  const { submitted, followUp } = call;
  const events: CallEvent[] = [envelope(call, 'call.submitted', 1, time, submitted)];
  if (followUp?.kind === 'approval') events.push(envelope(call, 'call.approval_requested', 2, time, followUp.data));
  if (followUp?.kind === 'refused') events.push(envelope(call, 'call.end', 2, time, followUp.data));
  return foldCall(events, { arguments: args });
}

/** Event as the log writes it, except for its place in the log, which the call does not show. */
function envelope<T extends CallEventType, D>({ callId, meta, author }: NewCall, type: T, callver: number, time: number, data: D) {
  return {
    specversion: '1.0' as const,
    id: '1.0.0',
    ...author,
    type,
    subject: callId,
    time: isoTime(time),
    datacontenttype: 'application/json' as const,
    dataschema: dataSchemaOf(type),
    tenantid: meta.tenantId,
    tool: meta.tool,
    callver,
    attempt: 0,
    fence: 0,
    data,
    ...(meta.agentId === undefined ? {} : { agentid: meta.agentId }),
    ...(meta.sessionId === undefined ? {} : { sessionid: meta.sessionId }),
  };
}
