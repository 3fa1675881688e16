import { sql, type SelectQueryBuilder } from 'kysely';
import type { ItemKind, MemoryTables } from '../database/tables.js';

/** Filter of the user's chunks in a search. */
export interface ChunkFilter {
  readonly kinds: readonly ItemKind[];
  /** Sessions, with an empty string for none. Default: all. */
  readonly sessions?: readonly string[];
  /** Operations whose documents are searched. */
  readonly operations?: readonly string[];
  /** Chunks by `chunkId`. */
  readonly chunks?: readonly string[];
}

export function filterChunks<O>(
  query: SelectQueryBuilder<MemoryTables, 'chunks', O>,
  { kinds, sessions, operations, chunks }: ChunkFilter,
): SelectQueryBuilder<MemoryTables, 'chunks', O> {
  let found = query.where('kind', 'in', kinds);
  if (sessions !== undefined) found = found.where('session_id', 'in', sessions);
  if (operations !== undefined) found = found.where('operation', 'in', operations);
  if (chunks !== undefined) found = found.where(sql<boolean>`item_id || '#' || ordinal = any(${chunks}::text[])`);
  return found;
}

/** Id of a chunk of a user. */
export function chunkId({ item_id, ordinal }: { readonly item_id: string; readonly ordinal: number }): string {
  return `${item_id}#${ordinal}`;
}

/** Item of a chunk, by its `chunkId`. */
export function itemOf(id: string): string {
  return id.slice(0, id.lastIndexOf('#'));
}
