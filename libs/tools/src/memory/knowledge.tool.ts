import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Memory } from '#memory';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { runKnowledge } from './knowledge/run-knowledge.js';
import { NEEDS_MEMORY, useMemory } from './use-memory.js';

const TEXT_CHARACTERS = 200_000;

const input = z.strictObject({
  command: z.enum(['show', 'add', 'update', 'remove', 'clear', 'search', 'status', 'cancel']).describe('What to do.'),
  name: z.string().min(1).max(256).optional().describe('add, update, remove: name of the context.'),
  path: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('add, update: file or folder of the workspace to index. remove: the same, by which it was added.'),
  value: z.string().min(1).max(TEXT_CHARACTERS).optional().describe('add, update: a text to index instead of a path.'),
  context_id: z.string().min(1).max(128).optional().describe('remove, update, search: id of the context, as show gives it.'),
  query: z.string().min(1).max(2_000).optional().describe('search: what to look for.'),
  limit: z.number().int().min(1).max(50).default(5).describe('search: how many results at most.'),
  offset: z.number().int().min(0).max(1_000).default(0).describe('search: how many results to leave out.'),
  snippet_length: z.number().int().min(50).max(2_000).default(400).describe('search: characters of each result.'),
  sort_by: z.enum(['relevance', 'path', 'name']).default('relevance').describe('search: order of the results.'),
  file_type: z.string().min(1).max(32).optional().describe('search: only files with this end, such as "md".'),
  operation_id: z.string().min(1).max(128).optional().describe('cancel: the operation, as status gives it; all without it.'),
});
export type KnowledgeArguments = z.output<typeof input>;

/** Required arguments of a command: one of each list. */
const NEEDED: Readonly<Partial<Record<KnowledgeArguments['command'], readonly (readonly (keyof KnowledgeArguments)[])[]>>> = {
  add: [['name'], ['path', 'value']],
  update: [
    ['name', 'context_id', 'path'],
    ['path', 'value'],
  ],
  remove: [['name', 'context_id', 'path']],
  search: [['query']],
};

@Tool({
  name: 'knowledge',
  label: 'Knowledge',
  description:
    'Indexed documents of the user, in named contexts that last over sessions. Commands: show lists the contexts; add {name, path or value} indexes a file, a folder or a text; update {name, context_id or path} indexes again; ' +
    'remove {name, context_id or path}; clear removes all; search {query} answers a JSON array of {context_id, context, path, snippet, score}, best first; status lists the last operations with their progress; cancel {operation_id} stops indexing. ' +
    'add and update answer when everything is indexed; meanwhile status and cancel work from other calls, and search finds what was there before. Text files of at most 1 MB are indexed, at most 1,000 and 16 MB at once; others are skipped and counted.',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  timeoutMs: 600_000,
  requires: NEEDS_MEMORY,
  examples: [
    {
      title: 'A text',
      arguments: { command: 'add', name: 'house rules', value: 'The office opens at nine. Visitors sign in at the desk.' },
    },
    { title: 'A search', arguments: { command: 'search', query: 'when does the office open' } },
  ],
})
export class KnowledgeTool {
  constructor(@Optional() private readonly memory?: Memory) {}

  check(args: KnowledgeArguments): void {
    for (const names of NEEDED[args.command] ?? [])
      if (names.every((name) => args[name] === undefined))
        throw new ToolError('invalid_arguments', `The command ${args.command} needs ${names.join(' or ')}.`);
    if ((args.command === 'add' || args.command === 'update') && args.path !== undefined && args.value !== undefined)
      throw new ToolError('invalid_arguments', 'Give either path or value, not both.');
  }

  async run(args: KnowledgeArguments, ctx: ToolContext): Promise<ToolOutput> {
    this.check(args);
    return useMemory(this.memory, ctx, (memory, scope) => runKnowledge(memory, scope, args, ctx));
  }
}
