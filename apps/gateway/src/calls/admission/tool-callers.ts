import type { Decision, ToolCallers, ToolDescriptor } from '#contracts';
import type { EvaluatedCall } from './evaluated-call.js';
import type { Submission } from './submission.js';

/** Reason why a tool is not available to this kind of caller; undefined if it is. Pure. */
export function callersRefusal({ name, callers }: Pick<ToolDescriptor, 'name' | 'callers'>, caller: ToolCallers): string | undefined {
  if (callers === undefined || callers === caller) return undefined;
  return callers === 'main' ? `${name} is not available to sub-agents` : `${name} is available to sub-agents only`;
}

/** Rejects tools restricted to sub-agents for other callers, and vice versa. Pure. */
export function withCallers({ lineage }: Pick<Submission, 'lineage'>, evaluated: EvaluatedCall): EvaluatedCall {
  const { tool, rejection } = evaluated;
  if (rejection !== undefined || tool?.callers === undefined) return evaluated;
  const reason = callersRefusal(tool, (lineage?.agentsAbove ?? 0) > 0 ? 'sub_agents' : 'main');
  if (reason === undefined) return evaluated;
  const decision: Decision = { effect: 'deny', reasons: [{ axis: 'grants', rule: 'callers', effect: 'deny', reason }] };
  const error = { code: 'policy_denied', message: `Denied by policy: ${reason}`, retryable: false } as const;
  return { ...evaluated, decision, rejection: { outcome: 'denied', error } };
}
