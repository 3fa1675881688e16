import { z } from 'zod';
import type { AgentRun, ToolOutputObject } from '#tool-sdk';
import type { AgentHistory } from '../journal/agent-journal.js';
import type { LimitReason, Spent } from './agent-loop.decider.js';

export const NO_TEXT = '(sub-agent produced no text output)';

export interface FinishedRun {
  readonly callId: string;
  readonly run: Pick<AgentRun, 'parentCallId'>;
  readonly history: Pick<AgentHistory, 'turns' | 'submitted'>;
  readonly spent: Spent;
  /** What ended the run before its model did. */
  readonly limit: LimitReason | undefined;
}

const Summary = z.object({ taskResult: z.string().min(1) });

/** What the model gave to the tool `summary` last, as its result. */
function summaryOf(turns: AgentHistory['turns']): string | undefined {
  const calls = turns.flatMap(({ toolCalls }) => toolCalls.filter(({ tool, refusal }) => tool === 'summary' && refusal === undefined));
  return calls.flatMap(({ arguments: args }) => resultIn(args)).at(-1);
}

function resultIn(args: string): string[] {
  try {
    const parsed = Summary.safeParse(JSON.parse(args));
    return parsed.success ? [parsed.data.taskResult] : [];
  } catch {
    return [];
  }
}

/** What the model summed up is the result, or its last text; all else is for people and programs. Pure. */
export function agentOutput({ callId, run, history: { turns, submitted }, spent, limit }: FinishedRun): ToolOutputObject {
  const text = summaryOf(turns) ?? turns.findLast((turn) => turn.text.trim() !== '')?.text ?? NO_TEXT;
  const children = [...submitted.values()].flat().flatMap(({ callId: child }) => child ?? []);
  return {
    content: [{ type: 'text', text }],
    ...(children.length === 0 ? {} : { childCallIds: children }),
    details: {
      childLoopId: callId,
      ...(run.parentCallId === undefined ? {} : { parentLoopId: run.parentCallId }),
      turns: turns.length,
      tokens: spent.tokens,
      modelMs: spent.modelMs,
      calls: spent.calls,
      ...(limit === undefined ? {} : { stopped: limit }),
    },
  };
}
