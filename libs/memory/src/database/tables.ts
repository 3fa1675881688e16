import type { ColumnType, Generated, Kysely } from 'kysely';

export type ItemKind = 'fact' | 'note' | 'turn' | 'document';

type Time = ColumnType<Date, never, Date>;

/** What is remembered: a fact, a note, a turn of a conversation, or a document of a knowledge context. */
export interface ItemsTable {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly kind: ItemKind;
  /** Empty for what holds in all sessions. */
  readonly session_id: string;
  /** Key of a fact, role of a turn, path of a document. */
  readonly name: string;
  readonly category: string;
  /** Of a document: the operation that indexed it. */
  readonly operation: string;
  /** Empty for documents, whose text is in their chunks. */
  readonly content: string;
  readonly chunks: number;
  /** Counted against the quotas, with all its chunks. */
  readonly bytes: number;
  readonly created_at: Generated<Date>;
  readonly updated_at: Time & Generated<Date>;
}

/** A part of an item as it is searched. Scope and kind are those of the item. */
export interface ChunksTable {
  readonly item_id: string;
  readonly ordinal: number;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly kind: ItemKind;
  readonly session_id: string;
  readonly operation: string;
  readonly text: string;
  /** A tsvector of the words of `searchWords`. */
  readonly words: string;
  /** Which model made the vector, with its dimensions; null without a vector. */
  readonly model: string | null;
  /** `real[]`, of length 1. */
  readonly embedding: string | null;
}

/** What a user has stored, and in the row whose user is empty what the tenant has. */
export interface UsageTable {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly items: number;
  readonly chunks: number;
  readonly bytes: number;
}

/** A named collection of documents. */
export interface ContextsTable {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly name: string;
  /** The path of the workspace from which it was read; empty for a text. */
  readonly path: string;
  /** The operation whose documents are found. */
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
