import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { found, NEEDS_MEMORY, useMemory } from './use-memory.js';

const input = z.strictObject({
  query: z.string().min(1).max(2_000).describe('What the fact is about, in words that it may have.'),
  limit: z.number().int().min(1).max(50).default(5).describe('How many facts at most.'),
});

@Tool({
  name: 'memory_recall',
  label: 'Recall facts',
  description:
    'Finds facts of the user that were stored with memory_store, best first, by shared words and by similarity. Facts of other sessions that were stored with session_only are not found. ' +
    'Answers "Found {n} memories:" and a list of keys and contents, or "No matching memories found".',
  input,
  tier: 'read_only',
  requires: NEEDS_MEMORY,
  rawArgument: 'query',
  examples: [{ title: 'What language the user writes', arguments: { query: 'language of the user' } }],
})
export class MemoryRecallTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  async run({ query, limit }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const { facts, ranking, isLimited } = await useMemory(this.memory, ctx, (memory, scope) =>
      memory.facts.recall(scope, ctx.redact(query), limit, ctx.signal),
    );
    const lines = facts.map(({ key, content }) => `- **${key}**: ${content}\n`);
    const text = facts.length === 0 ? 'No matching memories found' : `Found ${facts.length} memories:\n\n${lines.join('')}`;
    return found(text, ranking, isLimited, { memories: facts });
  }
}
