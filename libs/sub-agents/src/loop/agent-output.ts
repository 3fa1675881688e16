import { z } from 'zod';
import type { AgentRun, ToolOutputObject } from '#tool-sdk';
import type { AgentHistory } from '../journal/agent-journal.js';
import type { RecordedToolCall } from '../journal/recorded-turn.js';
import type { LimitReason, Spent } from './agent-loop.decider.js';

export const NO_TEXT = '(sub-agent produced no text output)';

/** `details.reason` of a run that a limit ended. */
const REASONS: Readonly<Record<LimitReason, string>> = {
  max_turns: 'turn budget exceeded',
  max_tokens: 'token budget exceeded',
  max_time: 'time budget exceeded',
  max_calls: 'call budget exceeded',
};

export interface FinishedRun {
  readonly callId: string;
  readonly run: Pick<AgentRun, 'parentCallId'>;
  readonly history: Pick<AgentHistory, 'turns' | 'submitted' | 'recalled'>;
  readonly spent: Spent;
  /** Limit that ended the run before its model did. */
  readonly limit: LimitReason | undefined;
}

const Summary = z.object({ taskResult: z.string().min(1) }).catchall(z.string());
type Summary = z.output<typeof Summary>;

/** Arguments of the model's calls of the tool `summary`. Pure. */
export function summariesIn(toolCalls: readonly RecordedToolCall[]): Summary[] {
  return toolCalls.flatMap(({ tool, refusal, arguments: args }) => (tool === 'summary' && refusal === undefined ? summaryIn(args) : []));
}

function summaryIn(args: string): Summary[] {
  try {
    const parsed = Summary.safeParse(JSON.parse(args));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

/** Summary by the model, or its last text. Pure. */
export function answerOf(turns: AgentHistory['turns']): string | undefined {
  const summary = summariesIn(turns.flatMap(({ toolCalls }) => toolCalls)).at(-1);
  return summary?.taskResult ?? turns.findLast((turn) => turn.text.trim() !== '')?.text;
}

/** Output of a run: its answer is the result; all else is for people and programs. Pure. */
export function agentOutput({ callId, run, history: { turns, submitted, recalled }, spent, limit }: FinishedRun): ToolOutputObject {
  const text = answerOf(turns) ?? NO_TEXT;
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
      ...(recalled === undefined ? {} : { recalled: recalled.texts.length }),
      ...(limit === undefined ? {} : { stopped: limit, reason: REASONS[limit] }),
    },
  };
}
