import type { ToolContext } from '#tool-sdk';

export interface SaidTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Memory of a call's user. Never reaches another tenant or user: both come from the context. */
export interface AgentMemory {
  /** Bounded texts, best first; none without a user or a memory. Rejects only if the call is aborted. */
  recall(ctx: ToolContext, task: string): Promise<readonly string[]>;
  /** Stores turns of a conversation. Idempotent for each call. Rejects only if the call is aborted. */
  keep(ctx: ToolContext, turns: readonly SaidTurn[]): Promise<void>;
}
