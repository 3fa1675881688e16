import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { NEEDS_MEMORY, useMemory } from './use-memory.js';

const input = z.strictObject({
  key: z.string().min(1).max(256).describe('The key of the fact.'),
});

@Tool({
  name: 'memory_forget',
  label: 'Forget a fact',
  description:
    'Deletes a fact of the user by its key: that of this session if it has one, else that of all sessions. Answers "Forgot memory: {key}", or "No memory found with key: {key}".',
  input,
  tier: 'side_effecting',
  // A lost worker may have deleted the entry: a second run could delete one stored since.
  effect: 'once',
  requires: NEEDS_MEMORY,
  rawArgument: 'key',
  examples: [{ title: 'A preference', arguments: { key: 'user_language' } }],
})
export class MemoryForgetTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const key = ctx.redact(args.key);
    const forgotten = await useMemory(this.memory, ctx, (memory, scope) => memory.facts.forget(scope, key, ctx.signal));
    return forgotten ? `Forgot memory: ${key}` : `No memory found with key: ${key}`;
  }
}
