import type { AgentSourceDefinition } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import type { OpenAnswer } from '../agent-answers.js';
import type { AgentHistory, AgentJournal } from '../journal/agent-journal.js';
import { answerOf } from '../loop/agent-output.js';
import type { AgentMemory } from './agent-memory.port.js';
import type { RecalledMemory } from '../journal/recalled-memory.js';

export interface RunMemoryParts {
  readonly journal: Pick<AgentJournal, 'keepRecalled'>;
  readonly memory: AgentMemory;
}

/** Memory of one run: read once, before the first turn, and written once, at its end. */
export class RunMemory {
  constructor(
    private readonly definition: Pick<AgentSourceDefinition, 'memory'>,
    private readonly task: string,
    private readonly ctx: ToolContext,
    private readonly parts: RunMemoryParts,
  ) {}

  /** Recalled texts in the journal; searched before the first turn. `may`: rights by the caller's policy, from the gateway. */
  async recalled(
    { turns, recalled }: AgentHistory,
    may: Extract<OpenAnswer, { kind: 'open' }>['memory'],
  ): Promise<RecalledMemory | undefined> {
    if (recalled !== undefined || !this.definition.memory || turns.length > 0) return recalled;
    const texts = may.recall ? await this.parts.memory.recall(this.ctx, this.task) : [];
    return this.parts.journal.keepRecalled(this.ctx.callId, { texts: [...texts], keep: may.keep });
  }

  /** Stores the run as a turn of a conversation, if it has an answer. */
  async keep({ turns, recalled }: AgentHistory): Promise<void> {
    const answer = answerOf(turns);
    if (recalled?.keep !== true || answer === undefined) return;
    await this.parts.memory.keep(this.ctx, [
      { role: 'user', content: this.task },
      { role: 'assistant', content: answer },
    ]);
  }
}
