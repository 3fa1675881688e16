import type { Quote } from '#contracts';
import type { JudgedCall } from './new-call.js';
import { inBody } from './refusal.js';

/** What a submission would meet, as a caller reads it. */
export function quoteOf({ tool, decision, refusal }: JudgedCall, queueDepth: number | undefined): Quote {
  const malformed = refusal?.error.code === 'not_found' || refusal?.error.code === 'invalid_arguments';
  return {
    ...(tool === undefined ? {} : { tool: tool.name }),
    valid: !malformed,
    errors: malformed
      ? tool === undefined
        ? [{ pointer: '/tool', message: refusal.error.message }]
        : inBody(refusal.error.errors ?? [])
      : [],
    ...(malformed ? {} : { decision }),
    approvalNeeded: refusal === undefined && decision.effect === 'ask',
    ...(queueDepth === undefined ? {} : { queueDepth }),
  };
}
