import type { Memory, MemoryScope } from '#memory';
import { type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { found, idOf } from '../use-memory.js';
import { sourceOf } from './read-documents.js';

export interface KnowledgeCommand {
  readonly command: 'show' | 'add' | 'update' | 'remove' | 'clear' | 'search' | 'status' | 'cancel';
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly value?: string | undefined;
  readonly context_id?: string | undefined;
  readonly query?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly snippet_length: number;
  readonly sort_by: 'relevance' | 'path' | 'name';
  readonly file_type?: string | undefined;
  readonly operation_id?: string | undefined;
}

/** Runs one command. Rejects with a ToolError or a MemoryFailure. */
export async function runKnowledge(memory: Memory, scope: MemoryScope, args: KnowledgeCommand, ctx: ToolContext): Promise<ToolOutput> {
  const { knowledge } = memory;
  switch (args.command) {
    case 'show':
      return JSON.stringify((await knowledge.contexts(scope)).map(contextOf));
    case 'status':
      return JSON.stringify((await knowledge.operations(scope)).map(operationOf));
    case 'add':
    case 'update':
      return index(memory, scope, args, ctx);
    case 'remove': {
      const named = { id: args.context_id, name: redacted(args.name, ctx), path: args.path };
      const { id, name } = await knowledge.remove(scope, named, ctx.signal);
      return JSON.stringify({ context_id: id, message: `Removed the context ${name}.` });
    }
    case 'clear':
      return JSON.stringify({ message: `Removed ${await knowledge.clear(scope, ctx.signal)} contexts.` });
    case 'cancel': {
      const stopped = await knowledge.cancel(scope, args.operation_id, ctx.signal);
      return JSON.stringify({ cancelled: stopped, message: stopped.length === 0 ? 'No operation was running.' : 'Cancelled.' });
    }
    case 'search':
      return search(memory, scope, args, ctx);
    default:
      return args.command satisfies never;
  }
}

async function search(memory: Memory, scope: MemoryScope, args: KnowledgeCommand, ctx: ToolContext): Promise<ToolOutput> {
  const query = ctx.redact(args.query ?? '');
  const { context_id: contextId, limit, offset, sort_by: sortBy, file_type: fileType } = args;
  const answer = await memory.knowledge.search(scope, { query, contextId, limit, offset, sortBy, fileType }, ctx.signal);
  const results = answer.results.map(({ contextId: id, context, path, text, score }) => ({
    context_id: id,
    context,
    path,
    snippet: snippetOf(text, query, args.snippet_length),
    score: Number(score.toFixed(4)),
  }));
  return found(JSON.stringify(results), answer.ranking, answer.isLimited, { results, total: answer.total });
}

async function index(memory: Memory, scope: MemoryScope, args: KnowledgeCommand, ctx: ToolContext): Promise<ToolOutput> {
  const mode = args.command === 'add' ? 'add' : 'update';
  const name = redacted(args.name, ctx) ?? (await nameOf(memory, scope, args));
  const source = await sourceOf(args, ctx);
  const operationId = idOf('operation', ctx);
  const request = {
    operationId,
    contextId: idOf('context', ctx),
    name,
    path: args.path ?? '',
    mode,
    total: source.total,
    documents: source.documents(),
    reasonOf: (error: unknown) => (error instanceof ToolError ? error.message : undefined),
  } as const;
  const indexed = await memory.index(scope, request, ctx.signal, (documents) =>
    ctx.onProgress({ message: `Indexed ${documents} of ${source.total} files`, done: documents, total: source.total }),
  );
  if (indexed === 'cancelled') throw new ToolError('tool_failed', `Indexing was cancelled (${operationId}). Nothing of it is found.`);
  const skipped = source.skipped();
  const message = `Indexed ${indexed.documents} documents${skipped === 0 ? '' : `; skipped ${skipped} that are no text or too large`}.`;
  return JSON.stringify({ operation_id: operationId, context_id: indexed.contextId, documents: indexed.documents, skipped, message });
}

/** Name of the context of an update, by its id or path. */
async function nameOf(memory: Memory, scope: MemoryScope, { context_id, path }: KnowledgeCommand): Promise<string> {
  const contexts = await memory.knowledge.contexts(scope);
  const meant = contexts.find((it) => (context_id === undefined ? it.path === path : it.id === context_id));
  if (meant === undefined)
    throw new ToolError('tool_failed', `No knowledge context ${context_id ?? path}. The command show lists those that are there.`);
  return meant.name;
}

function redacted(name: string | undefined, ctx: ToolContext): string | undefined {
  return name === undefined ? undefined : ctx.redact(name);
}

function contextOf({
  id,
  name,
  path,
  documents,
  chunks,
  created_at,
  updated_at,
}: Awaited<ReturnType<Memory['knowledge']['contexts']>>[number]) {
  return { context_id: id, name, path, documents, chunks, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}

function operationOf(operation: Awaited<ReturnType<Memory['knowledge']['operations']>>[number]) {
  const { id, name, status, documents, total, fault, started_at } = operation;
  const why = fault === null ? {} : { error: fault };
  return { operation_id: id, name, status, documents, total, ...why, started_at: started_at.toISOString() };
}

/** The part of a text around the first word of the query that it has, at most so many characters, with `…` where it is cut. Pure. */
function snippetOf(text: string, query: string, characters: number): string {
  if (text.length <= characters) return text;
  const lower = text.toLowerCase();
  const places = (query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const room = characters - 2;
  const start = Math.max(0, Math.min(first - Math.floor(room / 4), text.length - room));
  const end = start + room;
  return `${start > 0 ? '…' : ''}${text.slice(start, end).toWellFormed()}${end < text.length ? '…' : ''}`;
}
