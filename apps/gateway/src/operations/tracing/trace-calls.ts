import type { CallSnapshot } from '#event-log';
import type { Span, Tracing } from '#observability';
import type { CallReader } from '../../calls/read/call-reader.service.js';
import type { CancelCallService } from '../../calls/cancel-call.service.js';
import type { DecideApprovalService } from '../../approvals/decide-approval.service.js';

export interface TracedServices {
  readonly decideApproval: Pick<DecideApprovalService, 'decide'>;
  readonly cancelCall: Pick<CancelCallService, 'cancel'>;
  readonly reader: Pick<CallReader, 'head'>;
}

/** Adds the spans `approve` and `cancel` by wrapping the services. `AdmissionTracer` has the spans of submissions. */
export function traceCalls(tracing: Tracing, services: TracedServices): void {
  traceDecide(tracing, services);
  traceCancel(tracing, services);
}

/** `approve`: how long the call waited for a person, and what that person said. */
function traceDecide(tracing: Tracing, { decideApproval, reader }: TracedServices): void {
  const decide = decideApproval.decide.bind(decideApproval);
  decideApproval.decide = async (principal, callId, body) => {
    const head = await reader.head(principal, callId);
    const call = await decide(principal, callId, body);
    if (head.status === 'waiting_approval') waited(tracing, head, { 'toolyard.approval.decision': body.decision }).end();
    return call;
  };
}

/** `cancel`: when it was asked for; and what the call had waited for, if it never started. */
function traceCancel(tracing: Tracing, { cancelCall, reader }: TracedServices): void {
  const cancel = cancelCall.cancel.bind(cancelCall);
  cancelCall.cancel = async (principal, callId, request) => {
    const head = await reader.head(principal, callId);
    const parent = head.meta.traceparent;
    const span = tracing.start({ name: 'cancel', parent, attributes: { 'toolyard.call.id': callId, 'toolyard.call.status': head.status } });
    try {
      const call = await cancel(principal, callId, request);
      if (call.outcome === 'cancelled' && (head.status === 'queued' || head.status === 'waiting_approval'))
        waited(tracing, head, {}).end({ failed: { type: 'cancelled' } });
      return call;
    } finally {
      span.end();
    }
  };
}

/** From the submission until now, by the clock of Redis at one end and ours at the other. */
function waited(tracing: Tracing, { callId, status, pool, submittedAt, meta }: CallSnapshot, more: Record<string, string>): Span {
  return tracing.start({
    name: status === 'waiting_approval' ? 'approve' : `queue ${pool}`,
    parent: meta.traceparent,
    startedAt: Math.min(submittedAt, Date.now()),
    attributes: { 'gen_ai.tool.name': meta.tool, 'toolyard.call.id': callId, 'toolyard.pool': pool, ...more },
  });
}
