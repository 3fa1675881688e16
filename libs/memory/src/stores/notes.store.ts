import { MemoryFailure } from '../memory-failure.js';
import { searchChunks, type Ranking } from '../retrieval/search-chunks.js';
import type { MemoryStorage } from '../storage.js';
import { insertItem, prepareChunks, shrinkage, storableText, sumOf } from '../write/items.js';
import type { MemoryScope, ScopedTables } from '../write/scoped-tables.js';
import { countUsage } from '../write/usage.js';

export interface NoteHit {
  readonly text: string;
  readonly source: 'user_memory' | 'conversation';
  readonly score: number;
  /** Empty for a turn of a conversation. */
  readonly noteId: string;
}

export interface NotesFound extends Ranking {
  readonly results: readonly NoteHit[];
}

/** Free texts of a user, with ids by the caller. */
export class NoteStore {
  constructor(private readonly storage: MemoryStorage) {}

  /** Saves a note. An existing id changes nothing. */
  async save(scope: MemoryScope, id: string, text: string, signal: AbortSignal): Promise<void> {
    const content = storableText(text);
    const chunks = await prepareChunks(this.storage, content, signal);
    await this.storage.change({ ...scope, signal }, async (tables) => {
      const before = await tables.items().where('id', '=', id).select('id').executeTakeFirst();
      if (before !== undefined) return;
      await countUsage(tables, await insertItem(tables, { id, kind: 'note', content }, chunks), this.storage.options.quotas);
    });
  }

  /** Replaces the text in one transaction. @throws MemoryFailure `not_found`, also for a note of another user */
  async update(scope: MemoryScope, id: string, text: string, signal: AbortSignal): Promise<void> {
    const content = storableText(text);
    const chunks = await prepareChunks(this.storage, content, signal);
    await this.storage.change({ ...scope, signal }, async (tables) => {
      const before = await remove(tables, id);
      const growth = await insertItem(tables, { id, kind: 'note', content, createdAt: before[0]?.created_at }, chunks);
      await countUsage(tables, sumOf(shrinkage(before), growth), this.storage.options.quotas);
    });
  }

  /** @throws MemoryFailure `not_found`, also for a note of another user */
  async delete(scope: MemoryScope, id: string, signal: AbortSignal): Promise<void> {
    await this.storage.change({ ...scope, signal }, async (tables) => {
      await countUsage(tables, shrinkage(await remove(tables, id)), this.storage.options.quotas);
    });
  }

  /** Notes with their best part, best first; with `turns`, also turns of the user's conversations. */
  async search(
    scope: MemoryScope,
    { query, limit, turns }: { readonly query: string; readonly limit: number; readonly turns: boolean },
    signal: AbortSignal,
  ): Promise<NotesFound> {
    const kinds = turns ? (['note', 'turn'] as const) : (['note'] as const);
    const { hits, ...ranking } = await searchChunks(this.storage, scope, { query, limit: limit * 4, kinds }, signal);
    const seen = new Set<string>();
    const results = hits
      .filter(({ itemId }) => !seen.has(itemId) && seen.add(itemId))
      .slice(0, limit)
      .map(({ kind, itemId, text, score }): NoteHit =>
        kind === 'turn' ? { text, source: 'conversation', score, noteId: '' } : { text, source: 'user_memory', score, noteId: itemId },
      );
    return { results, ...ranking };
  }
}

async function remove(tables: ScopedTables, id: string) {
  const removed = await tables
    .deleteItems()
    .where('id', '=', storableText(id))
    .where('kind', '=', 'note')
    .returning(['id', 'chunks', 'bytes', 'created_at'])
    .execute();
  if (removed.length === 0) throw new MemoryFailure('not_found', `Note not found: ${id}. memory_search gives the ids of notes.`);
  return removed;
}
