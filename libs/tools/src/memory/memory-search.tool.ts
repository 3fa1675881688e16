import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { found, NEEDS_MEMORY, useMemory } from './use-memory.js';

const input = z.strictObject({
  query: z.string().min(1).max(2_000).describe('What the note is about.'),
  top_k: z.number().int().min(1).max(20).default(5).describe('How many results at most.'),
  include_conversation: z.boolean().default(false).describe('Also search what was said in earlier turns (memory_turn).'),
});

@Tool({
  name: 'memory_search',
  label: 'Search notes',
  description:
    'Finds notes of the user, best first, by shared words and by similarity. Answers a JSON array of {text, source, score, note_id}: source is user_memory, or conversation for an earlier turn, which has an empty note_id. ' +
    'Scores are from 0 to 1. Nothing found: an empty array.',
  input,
  tier: 'read_only',
  requires: NEEDS_MEMORY,
  argumentAliases: { top_k: ['limit'] },
  rawArgument: 'query',
  examples: [{ title: 'How to answer', arguments: { query: 'preferred style of answers', top_k: 3 } }],
})
export class MemorySearchTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  async run({ query, top_k, include_conversation }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const { results, ranking, isLimited } = await useMemory(this.memory, ctx, (memory, scope) =>
      memory.notes.search(scope, { query: ctx.redact(query), limit: top_k, turns: include_conversation }, ctx.signal),
    );
    const shown = results.map(({ text, source, score, noteId }) => ({ text, source, score: Number(score.toFixed(4)), note_id: noteId }));
    return found(JSON.stringify(shown), ranking, isLimited, { results: shown });
  }
}
