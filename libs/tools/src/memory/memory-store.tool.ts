import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput, ToolError } from '#tool-sdk';
import { CONTENT_CHARACTERS, NEEDS_MEMORY, requireContent, useMemory } from './use-memory.js';

const input = z.strictObject({
  key: z.string().min(1).max(256).describe('Names the fact, such as "user_language". The same key replaces what was stored.'),
  content: z.string().min(1).max(CONTENT_CHARACTERS).describe('The fact.'),
  category: z.string().min(1).max(64).default('core').describe('core: lasts; daily: of a day; conversation: of a talk; or your own.'),
  session_only: z.boolean().default(false).describe('The fact holds in this session only, and is found only there.'),
});

@Tool({
  name: 'memory_store',
  label: 'Store a fact',
  description:
    'Stores a fact of the user under a key; it is there in later sessions too. Answers "Stored memory: {key}". The same key again replaces content and category. ' +
    'With session_only the fact belongs to this session. Secrets are stored as [REDACTED]. When the memory is full, the call fails with quota_exceeded: forget what is not needed. Find facts with memory_recall.',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  requires: NEEDS_MEMORY,
  examples: [{ title: 'A preference', arguments: { key: 'user_language', content: 'The user writes Go.' } }],
})
export class MemoryStoreTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  check({ key, content }: Pick<z.output<typeof input>, 'key' | 'content'>): void {
    requireContent(content);
    if (key.trim() === '') throw new ToolError('invalid_arguments', 'key must not be empty');
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    this.check(args);
    const [key, content, category] = [args.key, args.content, args.category].map((text) => ctx.redact(text));
    if (args.session_only && ctx.sessionId === undefined)
      throw new ToolError('tool_failed', 'session_only needs a session, and this call has none. Store the fact without it.');
    await useMemory(this.memory, ctx, (memory, scope) =>
      memory.facts.store(
        scope,
        { key: key ?? '', content: content ?? '', category: category ?? '', inSession: args.session_only },
        ctx.signal,
      ),
    );
    return `Stored memory: ${key}`;
  }
}
