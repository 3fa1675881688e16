import type { CallError, CallEvent, Decision } from '#contracts';

/**
 * The event without the content of people, models and tools: arguments, outputs, texts, labels, and digests by which they could
 * be guessed. Caller, tool, times and outcome stay. Fields that are not listed here are left out, so that a new field is
 * content by default.
 */
export function withoutContent(event: CallEvent): CallEvent {
  return { ...structureOf(event), erased: true };
}

function structureOf(event: CallEvent): CallEvent {
  switch (event.type) {
    case 'call.submitted': {
      const { tool, source, toolVersion, tier, effect, pool, queue, priority, timeouts, retry, decision } = event.data;
      const { batchId, parentCallId, rootCallId, depth, agentsAbove, replayOf, scheduleId, sessionEpoch } = event.data;
      const decided = {
        tool,
        source,
        toolVersion,
        tier,
        effect,
        pool,
        queue,
        priority,
        timeouts,
        retry,
        decision: withoutReasons(decision),
      };
      const lineage = { batchId, parentCallId, rootCallId, depth, agentsAbove, replayOf, scheduleId, sessionEpoch };
      return { ...event, data: { ...decided, ...lineage, argumentsDigest: '', labels: {} } };
    }
    case 'call.approval_requested':
      return { ...event, data: { reasons: [], digest: '', expiresInMs: event.data.expiresInMs } };
    case 'call.approval_decided':
      return { ...event, data: { decision: event.data.decision, scope: event.data.scope, digest: '' } };
    case 'call.start':
      return { ...event, data: { tool: event.data.tool, worker: event.data.worker } };
    case 'call.update':
      return { ...event, data: { update: event.data.update, content: [], truncated: event.data.truncated } };
    case 'call.progress':
      return { ...event, data: {} };
    case 'call.hook':
      return { ...event, data: { ...event.data, reason: undefined } };
    case 'call.turn': {
      const { turn, model, usage, tookMs } = event.data;
      return { ...event, data: { turn, model, requestSha256: '', toolCalls: [], usage, tookMs } };
    }
    case 'call.retry': {
      const { reason, nextAttempt, delayMs, error, until } = event.data;
      return { ...event, data: { reason, nextAttempt, delayMs, error: withoutMessage(error), until } };
    }
    case 'call.input_requested': {
      const { nextAttempt, expiresInMs, resumeInMs } = event.data;
      return { ...event, data: { nextAttempt, expiresInMs, resumeInMs } };
    }
    case 'call.input_given':
      return { ...event, data: { request: event.data.request } };
    case 'call.cancel_requested':
      return { ...event, data: { graceMs: event.data.graceMs } };
    case 'call.end': {
      const { outcome, isError, error, attempts, queueMs, runMs, cpuMs, stopped } = event.data;
      return { ...event, data: { outcome, isError, error: withoutMessage(error), attempts, queueMs, runMs, cpuMs, stopped } };
    }
    default:
      return event satisfies never;
  }
}

function withoutReasons({ effect, reasons }: Decision): Decision {
  return { effect, reasons: reasons.map(({ axis, rule, effect: said }) => ({ axis, rule, effect: said, reason: '' })) };
}

function withoutMessage(error: CallError | undefined): CallError | undefined {
  return error && { code: error.code, retryable: error.retryable, message: '' };
}
