import { MemoryFailure } from '../memory-failure.js';
import { searchChunks, type Ranking } from '../retrieval/search-chunks.js';
import type { MemoryStorage } from '../storage.js';
import { shrinkage, storableText } from '../write/items.js';
import type { MemoryScope } from '../write/scoped-tables.js';
import { countUsage } from '../write/usage.js';
import { findContext, removeDocuments, type ContextName, type KnowledgeContext } from './knowledge-rows.js';

export interface KnowledgeHit {
  readonly contextId: string;
  readonly context: string;
  readonly path: string;
  readonly text: string;
  readonly score: number;
}

export interface KnowledgeFound extends Ranking {
  readonly results: readonly KnowledgeHit[];
  /** Number of all scored matches. */
  readonly total: number;
}

export interface KnowledgeQuery {
  readonly query: string;
  readonly contextId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: 'relevance' | 'path' | 'name';
  /** Suffix of document names, such as `md`. */
  readonly fileType?: string | undefined;
}

/** Most matches that a search sorts and pages through. */
const MOST_HITS = 200;

/** Indexed documents of a user, in named contexts. `index-context.ts` fills them. */
export class KnowledgeStore {
  constructor(private readonly storage: MemoryStorage) {}

  contexts(scope: MemoryScope): Promise<KnowledgeContext[]> {
    return this.storage.read(scope, (tables) => tables.contexts().selectAll().orderBy('name').execute());
  }

  /** Last operations, newest first. */
  operations(scope: MemoryScope) {
    return this.storage.read(scope, (tables) => tables.operations().selectAll().orderBy('started_at', 'desc').limit(20).execute());
  }

  async search(scope: MemoryScope, request: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeFound> {
    const { contextId, limit, offset, sortBy, fileType } = request;
    const contexts = (await this.contexts(scope)).filter(({ id }) => contextId === undefined || id === contextId);
    if (contextId !== undefined && contexts.length === 0) throw noContext(contextId);
    if (contexts.length === 0) return { results: [], total: 0, ranking: 'full text', isLimited: false };
    const byOperation = new Map(contexts.map((context) => [context.operation, context]));
    const filter = { kinds: ['document'] as const, operations: [...byOperation.keys()] };
    const { hits, ...ranking } = await searchChunks(this.storage, scope, { query: request.query, limit: MOST_HITS, ...filter }, signal);
    const results = hits.flatMap(({ operation, name, text, score }) => {
      const context = byOperation.get(operation);
      const isWanted = fileType === undefined || name.toLowerCase().endsWith(`.${fileType.toLowerCase().replace(/^\./, '')}`);
      return context === undefined || !isWanted ? [] : [{ contextId: context.id, context: context.name, path: name, text, score }];
    });
    if (sortBy !== 'relevance') results.sort((a, b) => compare(a, b, sortBy));
    return { results: results.slice(offset, offset + limit), total: results.length, ...ranking };
  }

  /** @throws MemoryFailure `not_found` */
  async remove(scope: MemoryScope, named: ContextName, signal: AbortSignal): Promise<KnowledgeContext> {
    return this.storage.change({ ...scope, signal }, async (tables) => {
      const context = await findContext(tables, named);
      if (context === undefined) throw noContext(named.id ?? named.name ?? named.path ?? '');
      await tables.deleteContexts().where('id', '=', context.id).execute();
      await countUsage(tables, shrinkage(await removeDocuments(tables, [context.operation])), this.storage.options.quotas);
      return context;
    });
  }

  /** Deletes all contexts and operations, which stops running ones. Resolves with the number of contexts. */
  async clear(scope: MemoryScope, signal: AbortSignal): Promise<number> {
    return this.storage.change({ ...scope, signal }, async (tables) => {
      await tables.deleteOperations().execute();
      const removed = await tables.deleteContexts().returning('id').execute();
      const documents = await tables.deleteItems().where('kind', '=', 'document').returning(['id', 'chunks', 'bytes']).execute();
      await countUsage(tables, shrinkage(documents), this.storage.options.quotas);
      return removed.length;
    });
  }

  /** Cancels one operation, or all. Resolves with the ids of the running ones. */
  async cancel(scope: MemoryScope, operationId: string | undefined, signal: AbortSignal): Promise<string[]> {
    return this.storage.change({ ...scope, signal }, async (tables) => {
      let running = tables.updateOperations().set({ status: 'cancelled', updated_at: new Date() }).where('status', '=', 'running');
      if (operationId !== undefined) running = running.where('id', '=', storableText(operationId));
      return (await running.returning('id').execute()).map(({ id }) => id);
    });
  }
}

function compare(a: KnowledgeHit, b: KnowledgeHit, by: 'path' | 'name'): number {
  const [left, right] = by === 'path' ? [a.path, b.path] : [a.context, b.context];
  return left === right ? b.score - a.score : left < right ? -1 : 1;
}

function noContext(named: string): MemoryFailure {
  return new MemoryFailure('not_found', `No knowledge context ${named}. The command show lists those that are there.`);
}
