import type { AgentBudget } from '#contracts';

/** Limit that ends a run before its model does. */
export type LimitReason = 'max_turns' | 'max_tokens' | 'max_time' | 'max_calls';

export interface AgentLimits extends AgentBudget {
  readonly turns: number;
}

/** Usage of the run, including its sub-agents. */
export interface Spent {
  readonly tokens: number;
  readonly modelMs: number;
  readonly calls: number;
}

/** Facts of a model's answer for the decision. */
export interface AnsweredTurn {
  readonly toolCalls: readonly unknown[];
  /** Number of calls beyond the limit. */
  readonly leftOut: number;
}

export interface LoopState {
  readonly turns: readonly AnsweredTurn[];
  /** Number of calls of the last turn that are still to be submitted. */
  readonly unsubmitted: number;
  /** Calls of the last turn that are submitted and have not ended. */
  readonly open: readonly string[];
  readonly spent: Spent;
  readonly limits: AgentLimits;
}

export type NextStep =
  | { readonly kind: 'ask'; readonly turn: number }
  | { readonly kind: 'submit'; readonly turn: number }
  | { readonly kind: 'wait'; readonly callIds: readonly string[] }
  | { readonly kind: 'end'; readonly limit?: LimitReason };

/**
 * Next step of a sub-agent. The same state gives the same step in any process, so that a run can continue anywhere. Order: a
 * turn without calls is the end → wait → limits, before anything is spent → submit the remaining calls → next request. Pure.
 */
export function nextStep({ turns, unsubmitted, open, spent, limits }: LoopState): NextStep {
  const last = turns.at(-1);
  if (last !== undefined && last.toolCalls.length === 0 && last.leftOut === 0) return { kind: 'end' };
  if (last !== undefined && open.length > 0) return { kind: 'wait', callIds: open };
  const limit = reached(turns.length, spent, limits);
  if (limit !== undefined) return { kind: 'end', limit };
  if (last === undefined || unsubmitted === 0) return { kind: 'ask', turn: turns.length + 1 };
  if (spent.calls + unsubmitted > limits.calls) return { kind: 'end', limit: 'max_calls' };
  return { kind: 'submit', turn: turns.length };
}

function reached(turns: number, spent: Spent, limits: AgentLimits): LimitReason | undefined {
  if (turns >= limits.turns) return 'max_turns';
  if (spent.tokens >= limits.tokens) return 'max_tokens';
  if (spent.modelMs >= limits.modelMs) return 'max_time';
  return undefined;
}
