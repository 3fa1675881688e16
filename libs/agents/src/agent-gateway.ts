import type { AgentBudget } from '#contracts';
import type { AgentRequests } from '#queue';
import type { ToolContext } from '#tool-sdk';
import type { z } from 'zod';
import { OpenAnswer, SubmitAnswer } from './agent-answers.js';

/** Longer than any gateway needs for hooks of one call; then the slot is given back, and the request comes again. */
const PATIENCE_MS = 30_000;

/** What only gateways do for a sub-agent: they know keys, policy and limits. */
export class AgentGateway {
  constructor(private readonly requests: Pick<AgentRequests, 'ask'>) {}

  /** The tools for the next turn; messages of people go to the journal. Undefined when no gateway answered in time. */
  open(ctx: ToolContext, turn: number, budget: AgentBudget): Promise<OpenAnswer | undefined> {
    return this.ask(ctx, 'open', turn, budget, OpenAnswer);
  }

  /** Submits the calls of a turn that the journal has. A call is submitted once, however often this is asked. */
  submit(ctx: ToolContext, turn: number, budget: AgentBudget): Promise<SubmitAnswer | undefined> {
    return this.ask(ctx, 'submit', turn, budget, SubmitAnswer);
  }

  private async ask<T extends z.ZodType>(
    { callId, attempt, signal }: ToolContext,
    kind: 'open' | 'submit',
    turn: number,
    budget: AgentBudget,
    answer: T,
  ): Promise<z.output<T> | undefined> {
    signal.throwIfAborted();
    const text = await this.requests.ask({ kind, callId, turn, budget }, attempt, PATIENCE_MS);
    signal.throwIfAborted();
    return text === undefined ? undefined : answer.parse(JSON.parse(text));
  }
}
