import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { NEEDS_MEMORY, useMemory } from './use-memory.js';

const input = z.strictObject({
  note_id: z.string().min(1).max(128).describe('The id of the note, as memory_save and memory_search give it.'),
});

@Tool({
  name: 'memory_delete',
  label: 'Delete a note',
  description: 'Deletes a note of the user with all its text. Answers JSON with a message. An unknown note_id fails with "Note not found".',
  input,
  tier: 'side_effecting',
  // A second time it would not be found.
  effect: 'once',
  requires: NEEDS_MEMORY,
  rawArgument: 'note_id',
  examples: [{ title: 'A note', arguments: { note_id: 'note-0d2f7a3c-94be-4c11-8f0e-5a1b2c3d4e5f' } }],
})
export class MemoryDeleteTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  async run({ note_id }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    await useMemory(this.memory, ctx, (memory, scope) => memory.notes.delete(scope, note_id, ctx.signal));
    return JSON.stringify({ message: 'Note deleted successfully.' });
  }
}
