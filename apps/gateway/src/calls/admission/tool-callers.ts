import type { Decision, ToolCallers, ToolDescriptor } from '#contracts';
import type { EvaluatedCall } from './evaluated-call.js';
import type { Submission } from './submission.js';

/** Why an agent does not have a tool that only others have; undefined when it does. Pure. */
export function callersRefusal({ name, callers }: Pick<ToolDescriptor, 'name' | 'callers'>, caller: ToolCallers): string | undefined {
  if (callers === undefined || callers === caller) return undefined;
  return callers === 'main' ? `${name} is not available to sub-agents` : `${name} is available to sub-agents only`;
}

/** Refuses a tool that only sub-agents have to others, and one that they do not have to them. Pure. */
export function withCallers({ lineage }: Pick<Submission, 'lineage'>, evaluated: EvaluatedCall): EvaluatedCall {
  const { tool, rejection } = evaluated;
  if (rejection !== undefined || tool?.callers === undefined) return evaluated;
  const reason = callersRefusal(tool, (lineage?.agentsAbove ?? 0) > 0 ? 'sub_agents' : 'main');
  if (reason === undefined) return evaluated;
  const decision: Decision = { effect: 'deny', reasons: [{ axis: 'grants', rule: 'callers', effect: 'deny', reason }] };
  const error = { code: 'policy_denied', message: `Denied by policy: ${reason}`, retryable: false } as const;
  return { ...evaluated, decision, rejection: { outcome: 'denied', error } };
}
