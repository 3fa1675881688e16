import type { CallEvent, CallSummary, TurnData } from '#contracts';

/** A tool call of a turn; without `call` it was refused, or the list does not have it yet. */
export interface TurnCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly call?: CallSummary;
}

export interface AgentTurn extends Omit<TurnData, 'toolCalls'> {
  readonly at: number;
  readonly calls: readonly TurnCall[];
}

export interface Spent {
  readonly turns: number;
  readonly tokens: number;
  readonly modelMs: number;
  readonly calls: number;
  /** Why the run ended before its model did. */
  readonly stopped?: string;
}

/** Turns of a sub-agent with the calls of each. `children`: all calls that it made. */
export function turnsOf(events: readonly CallEvent[], children: readonly CallSummary[]): AgentTurn[] {
  const left = new Set(children.toSorted((a, b) => Date.parse(a.submittedAt) - Date.parse(b.submittedAt)));
  const take = (toolCallId: string, tool: string) => {
    const call = [...left].find((child) => child.toolCallId === toolCallId && child.tool === tool);
    if (call !== undefined) left.delete(call);
    return call;
  };
  return events.flatMap((event): AgentTurn[] => {
    if (event.type !== 'call.turn') return [];
    const { toolCalls, ...turn } = event.data;
    const calls = toolCalls.map(({ toolCallId, tool }): TurnCall => {
      const call = take(toolCallId, tool);
      return { toolCallId, tool, call };
    });
    return [{ ...turn, at: Date.parse(event.time), calls }];
  });
}

/** Usage of the run. Its result includes its own sub-agents; without a result, only its own turns and calls are known. */
export function spentOf(
  turns: readonly AgentTurn[],
  children: readonly CallSummary[],
  details: Readonly<Record<string, unknown>> = {},
): Spent {
  const sum = (of: (turn: AgentTurn) => number) => turns.reduce((total, turn) => total + of(turn), 0);
  const { stopped } = details;
  return {
    turns: turns.length,
    tokens: numberOf(details['tokens']) ?? sum(({ usage }) => usage.inputTokens + usage.outputTokens),
    modelMs: numberOf(details['modelMs']) ?? sum(({ tookMs }) => tookMs),
    calls: numberOf(details['calls']) ?? children.length,
    ...(typeof stopped === 'string' ? { stopped } : {}),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
