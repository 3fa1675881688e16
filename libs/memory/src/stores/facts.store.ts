import { randomUUID } from 'node:crypto';
import { searchChunks, type Ranking } from '../retrieval/search-chunks.js';
import type { MemoryStorage } from '../storage.js';
import { insertItem, prepareChunks, shrinkage, storableText, sumOf } from '../write/items.js';
import type { MemoryScope, ScopedTables } from '../write/scoped-tables.js';
import { countUsage } from '../write/usage.js';

export interface Fact {
  readonly key: string;
  readonly content: string;
  readonly category: string;
  /** True for a fact of the session in which it was stored. */
  readonly inSession: boolean;
}

export interface FactsFound extends Ranking {
  readonly facts: readonly (Fact & { readonly score: number })[];
}

/** Facts by key: one for each key of a user, and one for each key of a session of the user. */
export class FactStore {
  constructor(private readonly storage: MemoryStorage) {}

  /** Stores a fact. An existing key gets the new content and category. */
  async store(scope: MemoryScope, fact: Fact, signal: AbortSignal): Promise<void> {
    const [name, content, category] = [storableText(fact.key), storableText(fact.content), storableText(fact.category)];
    const sessionId = sessionOf(scope, fact.inSession);
    const chunks = await prepareChunks(this.storage, `${name}: ${content}`, signal);
    await this.storage.change({ ...scope, signal }, async (tables) => {
      const before = await remove(tables, name, sessionId);
      const [old] = before;
      const item = { id: old?.id ?? `fact-${randomUUID()}`, kind: 'fact', sessionId, name, content, createdAt: old?.created_at } as const;
      const growth = await insertItem(tables, { ...item, category }, chunks);
      await countUsage(tables, sumOf(shrinkage(before), growth), this.storage.options.quotas);
    });
  }

  /** Facts of the user and of this session, best first. */
  async recall(scope: MemoryScope, query: string, limit: number, signal: AbortSignal): Promise<FactsFound> {
    const sessions = [...new Set(['', scope.sessionId ?? ''])];
    const { hits, ...ranking } = await searchChunks(this.storage, scope, { query, limit: limit * 4, kinds: ['fact'], sessions }, signal);
    const byItem = new Map([...hits].reverse().map((hit) => [hit.itemId, hit]));
    const facts = [...byItem.values()]
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ name, content, category, sessionId, score }) => ({ key: name, content, category, inSession: sessionId !== '', score }));
    return { facts, ...ranking };
  }

  /** Deletes a fact of the session, else of the user. False if there is none. */
  async forget(scope: MemoryScope, key: string, signal: AbortSignal): Promise<boolean> {
    const name = storableText(key);
    return this.storage.change({ ...scope, signal }, async (tables) => {
      const ofSession = scope.sessionId === undefined ? [] : await remove(tables, name, scope.sessionId);
      const removed = ofSession.length > 0 ? ofSession : await remove(tables, name, '');
      await countUsage(tables, shrinkage(removed), this.storage.options.quotas);
      return removed.length > 0;
    });
  }
}

function sessionOf({ sessionId }: MemoryScope, inSession: boolean): string {
  return inSession ? (sessionId ?? '') : '';
}

function remove(tables: ScopedTables, name: string, sessionId: string) {
  return tables
    .deleteItems()
    .where('kind', '=', 'fact')
    .where('name', '=', name)
    .where('session_id', '=', sessionId)
    .returning(['id', 'chunks', 'bytes', 'created_at'])
    .execute();
}
