import type { AgentSourceDefinition, Call } from '#contracts';
import { ToolError, type AgentRun } from '#tool-sdk';
import type { AgentHistory } from '../journal/agent-journal.js';
import type { AgentLimits, Spent } from './agent-loop.decider.js';

/**
 * Limits of the run: those of its definition, capped by the budget from the sub-agent above.
 * @throws ToolError `policy_denied` below a sub-agent without budget for it
 */
export function limitsOf({ name, maxTurns, maxDepth, budgets }: AgentSourceDefinition, { above, budget }: AgentRun): AgentLimits {
  if (above > 0 && (budget === undefined || budget.depth < 1))
    throw new ToolError('policy_denied', `The sub-agent ${name} was called by a sub-agent that may not call any.`);
  return {
    turns: maxTurns,
    depth: Math.min(maxDepth, budget?.depth ?? Infinity),
    tokens: Math.min(budgets.tokens, budget?.tokens ?? Infinity),
    modelMs: Math.min(budgets.modelMs, budget?.modelMs ?? Infinity),
    calls: Math.min(budgets.calls, budget?.calls ?? Infinity),
  };
}

/** Usage of the run's turns and calls, including its sub-agents. `withoutResult`: usage of those without a result. Pure. */
export function spentOf(
  { turns, submitted, failedMs }: Pick<AgentHistory, 'turns' | 'submitted' | 'failedMs'>,
  calls: ReadonlyMap<string, Call>,
  withoutResult: ReadonlyMap<string, Spent>,
): Spent {
  let spent: Spent = {
    tokens: turns.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
    modelMs: turns.reduce((sum, { tookMs }) => sum + tookMs, failedMs),
    calls: 0,
  };
  for (const { callId = '', isAgent } of [...submitted.values()].flat()) {
    const { tokens, modelMs, calls: own } = isAgent ? (withoutResult.get(callId) ?? usageOf(calls.get(callId))) : NOTHING;
    spent = { tokens: spent.tokens + tokens, modelMs: spent.modelMs + modelMs, calls: spent.calls + 1 + own };
  }
  return spent;
}

const NOTHING: Spent = { tokens: 0, modelMs: 0, calls: 0 };

/** Usage in the result of a sub-agent. */
function usageOf(call: Call | undefined): Spent {
  const { tokens, modelMs, calls } = call?.result?.details ?? {};
  return { tokens: positive(tokens), modelMs: positive(modelMs), calls: positive(calls) };
}

function positive(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
