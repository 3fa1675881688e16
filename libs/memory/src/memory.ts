import { openDatabase } from '#history';
import { SCHEMA } from './database/migrate-memory.js';
import type { MemoryDatabase, MemoryTables } from './database/tables.js';
import { OFFLINE_EMBEDDINGS } from './embeddings/offline-embeddings.js';
import { OpenAiEmbeddings, type PostJson } from './embeddings/openai-embeddings.js';
import type { MemorySettings } from './memory.config.js';
import { CONNECTIONS, MemoryStorage, type StorageOptions } from './storage.js';
import { FactStore } from './stores/facts.store.js';
import { indexContext, type IndexRequest, type Indexed } from './stores/index-context.js';
import { KnowledgeStore } from './stores/knowledge.store.js';
import { NoteStore } from './stores/notes.store.js';
import { TurnStore } from './stores/turns.store.js';
import type { MemoryScope } from './write/scoped-tables.js';

const STATEMENT_TIMEOUT_MS = 10_000;

/** Memory of users, in the database. Every operation is limited to one tenant and user. */
export class Memory {
  readonly facts: FactStore;
  readonly notes: NoteStore;
  readonly turns: TurnStore;
  readonly knowledge: KnowledgeStore;
  private readonly storage: MemoryStorage;

  constructor(options: StorageOptions) {
    this.storage = new MemoryStorage(options);
    this.facts = new FactStore(this.storage);
    this.notes = new NoteStore(this.storage);
    this.turns = new TurnStore(this.storage);
    this.knowledge = new KnowledgeStore(this.storage);
  }

  /** Opens the memory, without a connection before the first use. `post` enforces the operator's egress rules. */
  static open(settings: MemorySettings, post: PostJson, onError: (error: unknown) => void): Memory {
    const { databaseUrl, embeddings, weights, quotas, exactRows } = settings;
    return new Memory({
      db: openMemoryDatabase(databaseUrl, onError),
      embeddings: embeddings === undefined ? OFFLINE_EMBEDDINGS : new OpenAiEmbeddings(embeddings, post),
      weights,
      quotas,
      exactRows,
      onError,
    });
  }

  /** Indexes like `indexContext`. */
  index(
    scope: MemoryScope,
    request: IndexRequest,
    signal: AbortSignal,
    onProgress: (documents: number) => void,
  ): Promise<Indexed | 'cancelled'> {
    return indexContext(this.storage, scope, request, signal, onProgress);
  }

  /** Availability of the tools: false if an operator has to act first. */
  status(): { readonly ok: boolean; readonly reason?: string } {
    const { fault } = this.storage;
    return fault === undefined ? { ok: true } : { ok: false, reason: fault };
  }

  close(): Promise<void> {
    return this.storage.close();
  }
}

/** Opens the database. `public` contains pgvector. Writes are on disk before they are acknowledged. */
export function openMemoryDatabase(url: string, onError: (error: unknown) => void): MemoryDatabase {
  return openDatabase<MemoryTables>({
    url,
    name: 'toolyard-memory',
    connections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError,
    schema: `${SCHEMA},public`,
    durable: true,
  });
}
