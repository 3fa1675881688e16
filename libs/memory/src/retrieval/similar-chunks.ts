import { sql } from 'kysely';
import { productWithPacked, vectorText, type Embedding } from '../embeddings/vectors.js';
import type { ScopedTables } from '../write/scoped-tables.js';
import { chunkId, filterChunks, type ChunkFilter } from './chunk-filter.js';

const PAGE = 500;

export interface SimilarOptions {
  readonly most: number;
  /** Least cosine; lower ones count as 0. */
  readonly least: number;
  /** Additional chunks to score, by `chunkId`. */
  readonly always: ReadonlySet<string>;
}

/** True if the server has the extension pgvector. */
export async function hasPgvector({ db }: ScopedTables): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'vector'`.execute(db);
  return rows.length > 0;
}

/** Most similar chunks and the additional ones, compared in this process: reads each vector once, a page at a time. */
export async function scanSimilar(
  tables: ScopedTables,
  filter: ChunkFilter,
  query: Embedding,
  { most, least, always }: SimilarOptions,
): Promise<Map<string, number>> {
  let best: { readonly id: string; readonly score: number }[] = [];
  const others: [string, number][] = [];
  for (let after = { item: '', ordinal: -1 }; ;) {
    const rows = await filterChunks(tables.chunks(), filter)
      .where('model', '=', query.model)
      .where(sql<boolean>`(item_id, ordinal) > (${after.item}, ${after.ordinal})`)
      .orderBy('item_id')
      .orderBy('ordinal')
      .limit(PAGE)
      .select(['item_id', 'ordinal', sql<Buffer>`array_send(embedding)`.as('packed')])
      .execute();
    const scored = rows
      .map((row) => ({ id: chunkId(row), score: productWithPacked(row.packed, query.vector) }))
      .filter(({ score }) => score >= least);
    others.push(...scored.filter(({ id }) => always.has(id)).map(({ id, score }) => [id, score] as [string, number]));
    best = [...best, ...scored].sort((a, b) => b.score - a.score).slice(0, most);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) break;
    after = { item: last.item_id, ordinal: last.ordinal };
  }
  return new Map([...best.map(({ id, score }) => [id, score] as const), ...others]);
}

/** Like `scanSimilar`, by pgvector. Also compares every vector of the user: an index would miss some of a filtered search. */
export async function pgvectorSimilar(
  tables: ScopedTables,
  filter: ChunkFilter,
  query: Embedding,
  options: SimilarOptions,
): Promise<Map<string, number>> {
  const { most, least, always } = options;
  const distance = sql<number>`embedding::vector <=> ${vectorText(query.vector)}::vector`;
  const rows = await filterChunks(tables.chunks(), filter)
    .where('model', '=', query.model)
    .orderBy(distance)
    .limit(most)
    .select(['item_id', 'ordinal', distance.as('distance')])
    .execute();
  const best = rows.map((row) => [chunkId(row), 1 - row.distance] as const).filter(([, score]) => score >= least);
  const others = await scanSimilar(tables, { ...filter, chunks: [...always] }, query, options);
  return new Map([...best, ...others]);
}
