import type { ToolContext } from '#tool-sdk';

export interface SaidTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What is remembered of the user of a call. Another tenant or user is never reached: both come from the context. */
export interface AgentMemory {
  /** Bounded texts, best first; none without a user or a memory. Rejects only when the call is aborted. */
  recall(ctx: ToolContext, task: string): Promise<readonly string[]>;
  /** Keeps turns of a conversation; repeating it for the same call changes nothing. Rejects only when the call is aborted. */
  keep(ctx: ToolContext, turns: readonly SaidTurn[]): Promise<void>;
}
