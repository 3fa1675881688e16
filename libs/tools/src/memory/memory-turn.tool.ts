import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { CONTENT_CHARACTERS, idOf, NEEDS_MEMORY, requireContent, useMemory } from './use-memory.js';

const input = z.strictObject({
  role: z.enum(['user', 'assistant']).describe('Who said it.'),
  content: z.string().min(1).max(CONTENT_CHARACTERS).describe('What was said.'),
});

@Tool({
  name: 'memory_turn',
  label: 'Remember a turn',
  description:
    'Keeps what was said in this conversation, so that memory_search with include_conversation finds it later. Meant for the program around the model, which calls it with each turn. ' +
    'The last 2,000 turns of a user are kept. Secrets are stored as [REDACTED].',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  requires: NEEDS_MEMORY,
  examples: [{ title: 'What the user said', arguments: { role: 'user', content: 'Please call me Sam.' } }],
})
export class MemoryTurnTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  check({ content }: Pick<z.output<typeof input>, 'content'>): void {
    requireContent(content);
  }

  async run({ role, content }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    this.check({ content });
    const turn = { role, content: ctx.redact(content) };
    await useMemory(this.memory, ctx, (memory, scope) => memory.turns.add(scope, idOf('turn', ctx), turn, ctx.signal));
    return JSON.stringify({ message: 'Turn kept.' });
  }
}
