import type { AgentMemory, SaidTurn } from '#sub-agents';
import { type Memory, MemoryFailure, type MemoryScope } from '#memory';
import type { ToolContext } from '#tool-sdk';
import type { WorkerLog } from '../platform/worker.logger.js';

const FACTS = 4;
const NOTES = 4;
/** Longest text for a model. */
const TEXT_CHARACTERS = 1_000;
const QUERY_CHARACTERS = 2_000;
/** Longest stored turn, equal to that of the tool memory_turn. */
const TURN_CHARACTERS = 32_768;

/** Memory of tools for sub-agents. A failure leaves the run without memory. */
export class UserMemory implements AgentMemory {
  constructor(
    private readonly memory: Memory | undefined,
    private readonly logger: Pick<WorkerLog, 'warn'>,
  ) {}

  async recall(ctx: ToolContext, task: string): Promise<readonly string[]> {
    const query = ctx.redact(task).slice(0, QUERY_CHARACTERS);
    const found = await this.tried(ctx, async (memory, scope) => {
      const { facts } = await memory.facts.recall(scope, query, FACTS, ctx.signal);
      const { results } = await memory.notes.search(scope, { query, limit: NOTES, turns: true }, ctx.signal);
      return [...facts.map(({ key, content }) => `${key}: ${content}`), ...results.map(({ text }) => text)];
    });
    return (found ?? []).map((text) => text.slice(0, TEXT_CHARACTERS));
  }

  async keep(ctx: ToolContext, turns: readonly SaidTurn[]): Promise<void> {
    await this.tried(ctx, async (memory, scope) => {
      for (const { role, content } of turns) {
        const text = ctx.redact(content).slice(0, TURN_CHARACTERS);
        await memory.turns.add(scope, `turn-${ctx.callId}-${role}`, { role, content: text }, ctx.signal);
      }
    });
  }

  private async tried<T>(ctx: ToolContext, run: (memory: Memory, scope: MemoryScope) => Promise<T>): Promise<T | undefined> {
    const { tenantId, userId, sessionId, callId } = ctx;
    if (this.memory === undefined || userId === undefined) return undefined;
    try {
      return await run(this.memory, { tenantId, userId, sessionId });
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (!(error instanceof MemoryFailure)) throw error;
      this.logger.warn({ err: error, callId }, 'a sub-agent ran without the memory of its user');
      ctx.onUpdate([{ type: 'text', text: `[memory: ${error.message}]\n` }], { stream: 'memory' });
      return undefined;
    }
  }
}
