import type { ColumnType, Generated, Kysely } from 'kysely';

export type ItemKind = 'fact' | 'note' | 'turn' | 'document';

type Time = ColumnType<Date, never, Date>;

/** Memory item: a fact, a note, a turn of a conversation, or a document of a knowledge context. */
export interface ItemsTable {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly kind: ItemKind;
  /** Empty for items of all sessions. */
  readonly session_id: string;
  /** Key of a fact, role of a turn, path of a document. */
  readonly name: string;
  readonly category: string;
  /** Operation that indexed a document. */
  readonly operation: string;
  /** Empty for documents, whose text is in their chunks. */
  readonly content: string;
  readonly chunks: number;
  /** Bytes that count for the quotas, including all chunks. */
  readonly bytes: number;
  readonly created_at: Generated<Date>;
  readonly updated_at: Time & Generated<Date>;
}

/** Searchable part of an item. Scope and kind are those of the item. */
export interface ChunksTable {
  readonly item_id: string;
  readonly ordinal: number;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly kind: ItemKind;
  readonly session_id: string;
  readonly operation: string;
  readonly text: string;
  /** Tsvector of the words from `searchWords`. */
  readonly words: string;
  /** Model of the vector, with its dimensions; null without a vector. */
  readonly model: string | null;
  /** Vector as `real[]`, of length 1. */
  readonly embedding: string | null;
}

/** Usage of a user, or of the whole tenant in the row with an empty user. */
export interface UsageTable {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly items: number;
  readonly chunks: number;
  readonly bytes: number;
}

/** Named collection of documents. */
export interface ContextsTable {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly name: string;
  /** Source path in the workspace; empty for a text. */
  readonly path: string;
  /** Operation whose documents are visible to searches. */
  readonly operation: string;
  readonly documents: number;
  readonly chunks: number;
  readonly created_at: Generated<Date>;
  readonly updated_at: Time & Generated<Date>;
}

export type OperationStatus = 'running' | 'completed' | 'cancelled' | 'failed';

/** One indexing of a context. */
export interface OperationsTable {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly name: string;
  readonly status: OperationStatus;
  readonly documents: number;
  readonly total: number;
  readonly fault: string | null;
  readonly started_at: Generated<Date>;
  readonly updated_at: Time & Generated<Date>;
}

export interface MemoryTables {
  readonly items: ItemsTable;
  readonly chunks: ChunksTable;
  readonly usage: UsageTable;
  readonly contexts: ContextsTable;
  readonly operations: OperationsTable;
}

export type MemoryDatabase = Kysely<MemoryTables>;
