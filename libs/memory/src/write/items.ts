import { sql } from 'kysely';
import type { ItemKind, ItemsTable } from '../database/tables.js';
import { arrayText, type Embedding } from '../embeddings/vectors.js';
import { chunkText } from '../text/chunk-text.js';
import { searchWords } from '../text/search-words.js';
import type { MemoryStorage } from '../storage.js';
import type { ScopedTables } from './scoped-tables.js';
import type { Growth } from './usage.js';

export interface NewItem {
  readonly id: string;
  readonly kind: ItemKind;
  readonly sessionId?: string;
  readonly name?: string;
  readonly category?: string;
  readonly operation?: string;
  readonly content?: string;
  /** Creation time of the replaced item. */
  readonly createdAt?: Date | undefined;
}

export interface PreparedChunk {
  readonly text: string;
  readonly embedding: Embedding | undefined;
}

const ROWS_AT_ONCE = 100;
const BYTES_A_NUMBER = 4;

/** Chunks of a text with their vectors. Sends requests to the embedding model, so it must be called before a transaction. */
export async function prepareChunks(storage: MemoryStorage, text: string, signal: AbortSignal): Promise<readonly PreparedChunk[]> {
  const texts = chunkText(text).map((chunk) => chunk.text);
  const { embeddings } = await storage.embed(texts, signal);
  return texts.map((chunk, index) => ({ text: chunk, embedding: embeddings[index] }));
}

/** Writes an item with its chunks. */
export async function insertItem(tables: ScopedTables, item: NewItem, chunks: readonly PreparedChunk[]): Promise<Growth> {
  const { id, kind, sessionId = '', name = '', category = '', operation = '', content = '', createdAt } = item;
  const bytes = Buffer.byteLength(content + name) + chunks.reduce((sum, chunk) => sum + bytesOf(chunk), 0);
  const times = createdAt === undefined ? {} : { created_at: createdAt };
  const facts = { kind, session_id: sessionId, operation };
  await tables.insertItem({ id, ...facts, name, category, content, chunks: chunks.length, bytes, ...times }).execute();
  for (let at = 0; at < chunks.length; at += ROWS_AT_ONCE) {
    const rows = chunks.slice(at, at + ROWS_AT_ONCE).map(({ text, embedding }, index) => ({
      item_id: id,
      ordinal: at + index,
      ...facts,
      text,
      words: sql<string>`array_to_tsvector(${searchWords(text)}::text[])`,
      model: embedding?.model ?? null,
      embedding: embedding === undefined ? null : arrayText(embedding.vector),
    }));
    await tables.insertChunks(rows).execute();
  }
  return { items: 1, chunks: chunks.length, bytes };
}

type RemovedItem = Pick<ItemsTable, 'id' | 'chunks' | 'bytes'>;

/** Usage freed by the removal of these items. */
export function shrinkage(removed: readonly RemovedItem[]): Growth {
  return {
    items: -removed.length,
    chunks: -removed.reduce((sum, { chunks }) => sum + chunks, 0),
    bytes: -removed.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

export function sumOf(...growths: readonly Growth[]): Growth {
  return growths.reduce((sum, it) => ({ items: sum.items + it.items, chunks: sum.chunks + it.chunks, bytes: sum.bytes + it.bytes }));
}

/** Text that the database can store: without NUL and lone surrogates. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function bytesOf({ text, embedding }: PreparedChunk): number {
  return Buffer.byteLength(text) + (embedding?.vector.length ?? 0) * BYTES_A_NUMBER;
}
