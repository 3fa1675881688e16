import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { CONTENT_CHARACTERS, NEEDS_MEMORY, requireContent, useMemory } from './use-memory.js';

const input = z.strictObject({
  note_id: z.string().min(1).max(128).describe('The id of the note, as memory_save and memory_search give it.'),
  content: z.string().min(1).max(CONTENT_CHARACTERS).describe('The whole new text.'),
});

@Tool({
  name: 'memory_update',
  label: 'Update a note',
  description:
    'Replaces the text of a note of the user; it keeps its id. Answers JSON with note_id. Until the new text is stored, the old one is found; there are never both. An unknown note_id fails with "Note not found".',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  requires: NEEDS_MEMORY,
  examples: [
    { title: 'A new text', arguments: { note_id: 'note-0d2f7a3c-94be-4c11-8f0e-5a1b2c3d4e5f', content: 'The user prefers long answers.' } },
  ],
})
export class MemoryUpdateTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  check({ content }: Pick<z.output<typeof input>, 'content'>): void {
    requireContent(content);
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    this.check(args);
    await useMemory(this.memory, ctx, (memory, scope) => memory.notes.update(scope, args.note_id, ctx.redact(args.content), ctx.signal));
    return JSON.stringify({ note_id: args.note_id, message: 'Note updated successfully.' });
  }
}
