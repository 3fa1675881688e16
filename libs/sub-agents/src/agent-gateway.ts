import type { AgentBudget } from '#contracts';
import type { GatewayRequests, AgentTurnRequest } from '#queue';
import type { ToolContext } from '#tool-sdk';
import type { z } from 'zod';
import { OpenAnswer, SubmitAnswer } from './agent-answers.js';

/** Timeout in milliseconds, longer than the hooks of one call; then the slot is released, and the request is repeated. */
const PATIENCE_MS = 30_000;

/** Client for operations of a sub-agent that only gateways can do, since they have keys, policy and limits. */
export class AgentGateway {
  constructor(private readonly requests: Pick<GatewayRequests, 'ask'>) {}

  /** Tools for the next turn; messages of people go to the journal. Undefined if no gateway answered in time. */
  open(ctx: ToolContext, turn: number, budget: AgentBudget): Promise<OpenAnswer | undefined> {
    return this.ask(ctx, { kind: 'open', turn, after: 0, budget }, OpenAnswer);
  }

  /**
   * Submits the calls of a turn that may run once the first `after` have ended, by the strategy of the sub-agent. Idempotent
   * for each call.
   */
  submit(ctx: ToolContext, turn: number, after: number, budget: AgentBudget): Promise<SubmitAnswer | undefined> {
    return this.ask(ctx, { kind: 'submit', turn, after, budget }, SubmitAnswer);
  }

  private async ask<T extends z.ZodType>(
    { callId, attempt, signal }: ToolContext,
    request: Omit<AgentTurnRequest, 'callId'>,
    answer: T,
  ): Promise<z.output<T> | undefined> {
    signal.throwIfAborted();
    const text = await this.requests.ask({ ...request, callId }, attempt, PATIENCE_MS);
    signal.throwIfAborted();
    return text === undefined ? undefined : answer.parse(JSON.parse(text));
  }
}
