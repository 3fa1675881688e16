import { ProblemError } from '#contracts';
import type { CallSnapshot, EventLog } from '#event-log';
import type { ToolRegistry } from '#tool-sdk';
import type { Span, Tracing } from '#observability';
import type { CallEvaluator } from '../../calls/admission/call-evaluator.service.js';
import type { CallReader } from '../../calls/read/call-reader.service.js';
import type { CancelCallService } from '../../calls/cancel-call.service.js';
import type { DecideApprovalService } from '../../approvals/decide-approval.service.js';
import type { SubmitCallService } from '../../calls/submit-call.service.js';
import type { ActiveHttpTraces } from './trace-requests.js';

export interface TracedServices {
  readonly submitCall: Pick<SubmitCallService, 'submit'>;
  readonly judge: Pick<CallEvaluator, 'evaluate'>;
  readonly log: Pick<EventLog, 'accept'>;
  readonly decideApproval: Pick<DecideApprovalService, 'decide'>;
  readonly cancelCall: Pick<CancelCallService, 'cancel'>;
  readonly reader: Pick<CallReader, 'head'>;
  readonly tools: Pick<ToolRegistry, 'resolve'>;
}

/**
 * Puts spans around what happens to calls in this gateway, from outside: the services know nothing of it, and while
 * tracing is off they run as they are. Once for a set of services.
 */
export function traceCalls(tracing: Tracing, services: TracedServices, open: ActiveHttpTraces): void {
  const submissions = new Map<string, Span>();
  traceSubmit(tracing, services, open, submissions);
  traceJudge(tracing, services);
  traceAccept(tracing, services, submissions);
  traceDecide(tracing, services);
  traceCancel(tracing, services);
}

/**
 * `submit_call {tool}`: its traceparent is what the log keeps for the call. It ends when the call is accepted, also when
 * the caller waits for more. By WebSocket it is the server span too, since there is no request.
 */
function traceSubmit(
  tracing: Tracing,
  { submitCall, tools }: TracedServices,
  open: ActiveHttpTraces,
  submissions: Map<string, Span>,
): void {
  const submit = submitCall.submit.bind(submitCall);
  submitCall.submit = async (principal, body, options) => {
    const { traceparent: parent, batchId, replayOf } = options ?? {};
    const tool = tools.resolve(body.tool)?.name ?? 'unknown';
    const byHttp = batchId !== undefined || (parent !== undefined && open.has(parent));
    const span = tracing.start({
      name: `submit_call ${tool}`,
      kind: byHttp ? 'producer' : 'server',
      parent,
      attributes: {
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': body.toolCallId,
        'gen_ai.conversation.id': body.sessionId,
        'gen_ai.agent.id': body.agentId ?? principal.agentId,
        'toolyard.tenant.id': principal.tenantId,
        'toolyard.batch.id': batchId,
        'toolyard.replay_of': replayOf,
        ...(byHttp ? {} : { 'network.protocol.name': 'websocket' }),
      },
    });
    const { traceparent } = span;
    submissions.set(traceparent, span);
    try {
      return await span.run(() => submit(principal, body, { ...options, traceparent }));
    } catch (error) {
      span.end({ failed: { type: errorType(error) } });
      throw error;
    } finally {
      span.end();
      submissions.delete(traceparent);
    }
  };
}

/** Only for submissions: a quote leaves no trace. */
function traceJudge(tracing: Tracing, { judge }: TracedServices): void {
  const plain = judge.evaluate.bind(judge);
  judge.evaluate = async (principal, body) => {
    const parent = tracing.active;
    if (parent === undefined) return plain(principal, body);
    const span = tracing.start({ name: 'judge', parent, attributes: {} });
    try {
      const judged = await plain(principal, body);
      const { decision, rejection } = judged;
      span.set({ 'toolyard.decision.effect': decision.effect, 'toolyard.refusal.code': rejection?.error.code });
      return judged;
    } catch (error) {
      span.end({ failed: { type: errorType(error) } });
      throw error;
    } finally {
      span.end();
    }
  };
}

function traceAccept(tracing: Tracing, { log }: TracedServices, submissions: Map<string, Span>): void {
  const accept = log.accept.bind(log);
  log.accept = async (call, sent) => {
    const submission = submissions.get(call.meta.traceparent ?? '');
    if (submission === undefined) return accept(call, sent);
    const span = tracing.start({ name: 'accept', parent: submission.traceparent, attributes: {} });
    try {
      const answer = await accept(call, sent);
      span.set({ 'toolyard.log.code': answer.code });
      const refused = call.followUp?.kind === 'refused' ? call.followUp.data.error?.code : undefined;
      submission.set({
        'toolyard.call.id': 'callId' in answer ? answer.callId : call.callId,
        'toolyard.call.repeated': 'callId' in answer,
      });
      submission.end(refused === undefined ? {} : { failed: { type: refused } });
      return answer;
    } catch (error) {
      span.end({ failed: { type: errorType(error) } });
      throw error;
    } finally {
      span.end();
    }
  };
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

function errorType(error: unknown): string {
  if (error instanceof ProblemError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
