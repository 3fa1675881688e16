import type { CallOutcome, EndData, SubmittedData, TurnData } from '#contracts';
import type { EventOrigin, NewCall } from '#event-log';

/** Calls as tests submit them; what a test is about it says itself. */
export const author: EventOrigin = { source: '/gateway/test', actor: 'apikey:test' };

export function aSubmission(changes: Partial<SubmittedData> = {}): SubmittedData {
  return {
    tool: 'echo',
    arguments: { text: 'héllo' },
    source: 'builtin',
    toolVersion: '1',
    argumentsDigest: 'd'.repeat(64),
    tier: 'read_only',
    effect: 'pure',
    pool: 'read',
    priority: 'normal',
    timeouts: { queueMs: 60_000, runMs: 60_000, totalMs: 120_000 },
    retry: { maxAttempts: 3, backoffMs: 100, maxBackoffMs: 1_000 },
    decision: { effect: 'allow', reasons: [] },
    labels: {},
    ...changes,
  };
}

export function aCall(callId: string, changes: Partial<NewCall> = {}): NewCall {
  return { callId, meta: { tenantId: 'acme', tool: 'echo' }, submitted: aSubmission(), author: author, ...changes };
}

export function endOf(outcome: CallOutcome): EndData {
  return {
    outcome,
    attempts: 0,
    ...(outcome === 'completed'
      ? { result: { content: [{ type: 'text', text: 'done' }], isError: false } }
      : { error: { code: 'internal', message: 'no', retryable: false } }),
  };
}

export const aTurn: TurnData = {
  turn: 1,
  model: 'm',
  requestSha256: 'aa',
  text: 'é\n',
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 2 },
  tookMs: 3,
};
