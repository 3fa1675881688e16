import type { MemoryStorage } from '../storage.js';
import { insertItem, prepareChunks, shrinkage, storableText, sumOf } from '../write/items.js';
import type { MemoryScope, ScopedTables } from '../write/scoped-tables.js';
import { countUsage } from '../write/usage.js';

/** Most turns of one user; above it, the oldest are deleted. */
const MOST_TURNS = 2_000;

export interface Turn {
  readonly role: string;
  readonly content: string;
}

/** Turns of a user's conversations. */
export class TurnStore {
  constructor(private readonly storage: MemoryStorage) {}

  /** Adds a turn. An existing id changes nothing. */
  async add(scope: MemoryScope, id: string, turn: Turn, signal: AbortSignal): Promise<void> {
    const content = storableText(turn.content);
    const chunks = await prepareChunks(this.storage, content, signal);
    await this.storage.change({ ...scope, signal }, async (tables) => {
      const before = await tables.items().where('id', '=', id).select('id').executeTakeFirst();
      if (before !== undefined) return;
      const item = { id, kind: 'turn', name: turn.role, sessionId: scope.sessionId ?? '', content } as const;
      const growth = await insertItem(tables, item, chunks);
      await countUsage(tables, sumOf(growth, shrinkage(await removeOldest(tables))), this.storage.options.quotas);
    });
  }
}

function removeOldest(tables: ScopedTables) {
  return tables
    .deleteItems()
    .where(
      'id',
      'in',
      tables.items().where('kind', '=', 'turn').orderBy('created_at', 'desc').orderBy('id').offset(MOST_TURNS).select('id'),
    )
    .returning(['id', 'chunks', 'bytes'])
    .execute();
}
