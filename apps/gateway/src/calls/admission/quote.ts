import type { Quote } from '#contracts';
import type { QueueStats } from '#queue';
import type { EvaluatedCall } from './evaluated-call.js';
import { inBody } from '../../platform/http/rejection.js';

/** Outcome of a submission at this moment. `slots`: concurrency of the tool's pool; undefined while no worker serves it. Pure. */
export function quoteOf({ tool, decision, rejection }: EvaluatedCall, depth: QueueStats | undefined, slots: number | undefined): Quote {
  const malformed = rejection?.error.code === 'not_found' || rejection?.error.code === 'invalid_arguments';
  const runs = rejection === undefined && decision.effect === 'allow';
  return {
    tool: tool?.name,
    valid: !malformed,
    errors: malformed
      ? tool === undefined
        ? [{ pointer: '/tool', message: rejection.error.message }]
        : inBody(rejection.error.errors ?? [{ pointer: '', message: rejection.error.message }])
      : [],
    decision: malformed ? undefined : decision,
    risk: malformed ? undefined : decision.risk,
    approvalNeeded: rejection === undefined && decision.effect === 'ask',
    queueDepth: depth?.waiting,
    expectedStartMs: depth === undefined || slots === undefined || !runs ? undefined : waitIn(depth, slots),
  };
}

/** Estimated wait in milliseconds: calls of a pool start in turn, so a new call waits about as long as the oldest one has waited. */
function waitIn({ waiting, active, oldestWaitingMs }: QueueStats, slots: number): number {
  return waiting + active < slots ? 0 : Math.round(oldestWaitingMs);
}
