import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { CONTENT_CHARACTERS, idOf, NEEDS_MEMORY, requireContent, useMemory } from './use-memory.js';

const input = z.strictObject({
  content: z.string().min(1).max(CONTENT_CHARACTERS).describe('The text of the note.'),
});

@Tool({
  name: 'memory_save',
  label: 'Save a note',
  description:
    'Saves a note about the user that is there in later sessions too. Answers JSON with note_id, which memory_update and memory_delete take. Secrets are stored as [REDACTED]. ' +
    'An empty content is refused. When the memory is full, the call fails with quota_exceeded: delete notes that are not needed. Find notes with memory_search.',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  requires: NEEDS_MEMORY,
  rawArgument: 'content',
  examples: [{ title: 'A note', arguments: { content: 'The user prefers answers in short sentences.' } }],
})
export class MemorySaveTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  check({ content }: z.output<typeof input>): void {
    requireContent(content);
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    this.check(args);
    const id = idOf('note', ctx);
    await useMemory(this.memory, ctx, (memory, scope) => memory.notes.save(scope, id, ctx.redact(args.content), ctx.signal));
    return JSON.stringify({ note_id: id, message: 'Note saved successfully.' });
  }
}
