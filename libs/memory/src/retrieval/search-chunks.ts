import { sql } from 'kysely';
import type { ItemKind } from '../database/tables.js';
import type { Embedding } from '../embeddings/vectors.js';
import type { MemoryStorage } from '../storage.js';
import { searchWords } from '../text/search-words.js';
import type { MemoryScope, ScopedTables } from '../write/scoped-tables.js';
import { chunkCounts } from '../write/usage.js';
import { chunkId, filterChunks, itemOf, type ChunkFilter } from './chunk-filter.js';
import { mergeScores, type Scored } from './merge-scores.js';
import { hasPgvector, pgvectorSimilar, scanSimilar } from './similar-chunks.js';
import { textScores } from './text-scores.js';

/** Most scored candidates of each kind of match. */
const CANDIDATES = 200;
const QUERY_WORDS = 64;

export interface Hit {
  readonly itemId: string;
  readonly kind: ItemKind;
  readonly name: string;
  readonly category: string;
  readonly sessionId: string;
  readonly operation: string;
  /** Content of the whole item; empty for documents. */
  readonly content: string;
  /** Matching part. */
  readonly text: string;
  readonly score: number;
}

/** Description of the ranking. */
export interface Ranking {
  /** Text for the reader. */
  readonly ranking: string;
  /** True if synonyms are not found. */
  readonly isLimited: boolean;
}

export interface SearchResult extends Ranking {
  /** Matches, best first; equal texts appear once. */
  readonly hits: readonly Hit[];
}

export interface SearchRequest extends ChunkFilter {
  readonly query: string;
  readonly limit: number;
}

/**
 * Finds chunks that share words with the query (full text of the database) or are similar to it (vectors):
 *
 * 1. request the vector of the query from the model, before anything is locked
 * 2. read the chunks that share words, and the most similar ones; each gets both scores
 * 3. weigh the scores, and read the items of the best
 */
export async function searchChunks(
  storage: MemoryStorage,
  scope: MemoryScope,
  { query, limit, ...filter }: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult> {
  const { embeddings, weights } = storage.options;
  const words = searchWords(query, QUERY_WORDS);
  const { embeddings: vectors, failed } = weights.vector === 0 ? { embeddings: [], failed: false } : await storage.embed([query], signal);
  return storage.read({ ...scope, signal }, async (tables) => {
    const counts = await chunkCounts(tables);
    const texts = await textMatches(tables, filter, words);
    const [embedding] = vectors;
    const means = await meansOf(tables, counts.tenant, storage.options.exactRows);
    const similar =
      embedding === undefined
        ? new Map<string, number>()
        : await similarChunks(tables, filter, embedding, means, [...texts.keys()], embeddings.minSimilarity);
    const all = new Map([
      ...texts,
      ...(await textsOf(
        tables,
        [...similar.keys()].filter((id) => !texts.has(id)),
      )),
    ]);
    const scored = mergeScores({ text: words.length === 0 ? new Map() : textScores(words, all, counts.user), vector: similar }, weights);
    return { hits: await hitsOf(tables, scored, limit), ...rankingOf(storage, failed, means) };
  });
}

type Means = 'scan' | 'pgvector' | 'matches';

async function meansOf(tables: ScopedTables, tenantRows: number, exactRows: number): Promise<Means> {
  if (tenantRows < exactRows) return 'scan';
  return (await hasPgvector(tables)) ? 'pgvector' : 'matches';
}

async function textMatches(tables: ScopedTables, filter: ChunkFilter, words: readonly string[]): Promise<Map<string, string>> {
  if (words.length === 0) return new Map();
  // Words have no quotes: searchWords keeps only letters, digits and _.
  const any = sql`${words.map((word) => `'${word}'`).join(' | ')}::tsquery`;
  const rows = await filterChunks(tables.chunks(), filter)
    .where(sql<boolean>`words @@ ${any}`)
    .orderBy(sql`ts_rank(words, ${any})`, 'desc')
    .orderBy('item_id')
    .orderBy('ordinal')
    .limit(CANDIDATES)
    .select(['item_id', 'ordinal', 'text'])
    .execute();
  return new Map(rows.map((row) => [chunkId(row), row.text]));
}

async function textsOf(tables: ScopedTables, chunks: readonly string[]): Promise<Map<string, string>> {
  if (chunks.length === 0) return new Map();
  const rows = await tables
    .chunks()
    .where('item_id', 'in', [...new Set(chunks.map(itemOf))])
    .where(sql<boolean>`item_id || '#' || ordinal = any(${chunks}::text[])`)
    .select(['item_id', 'ordinal', 'text'])
    .execute();
  return new Map(rows.map((row) => [chunkId(row), row.text]));
}

async function similarChunks(
  tables: ScopedTables,
  filter: ChunkFilter,
  query: Embedding,
  means: Means,
  matches: readonly string[],
  least: number,
): Promise<Map<string, number>> {
  const options = { most: CANDIDATES, least, always: new Set(matches) };
  switch (means) {
    case 'scan':
      return scanSimilar(tables, filter, query, options);
    case 'pgvector':
      return pgvectorSimilar(tables, filter, query, options);
    case 'matches':
      return scanSimilar(tables, { ...filter, chunks: matches }, query, options);
    default:
      return means satisfies never;
  }
}

async function hitsOf(tables: ScopedTables, scored: readonly Scored[], limit: number): Promise<Hit[]> {
  // Reads more chunks than requested, since some have the same text.
  const best = scored.slice(0, limit + CANDIDATES);
  if (best.length === 0) return [];
  const rows = await tables
    .chunks()
    .innerJoin('items', 'items.id', 'chunks.item_id')
    .where(sql<boolean>`chunks.item_id || '#' || chunks.ordinal = any(${best.map(({ id }) => id)}::text[])`)
    .where('chunks.item_id', 'in', [...new Set(best.map(({ id }) => itemOf(id)))])
    .select([
      'chunks.item_id',
      'chunks.ordinal',
      'chunks.text',
      'items.kind',
      'items.name',
      'items.category',
      'items.session_id',
      'items.operation',
      'items.content',
    ])
    .execute();
  const byId = new Map(rows.map((row) => [chunkId(row), row]));
  const seen = new Set<string>();
  const hits: Hit[] = [];
  for (const { id, score } of best) {
    const row = byId.get(id);
    if (row === undefined || hits.length === limit) continue;
    const same = JSON.stringify([row.kind, row.name, row.text]);
    if (seen.has(same)) continue;
    seen.add(same);
    const { item_id: itemId, kind, name, category, session_id: sessionId, operation, content, text } = row;
    hits.push({ itemId, kind, name, category, sessionId, operation, content, text, score });
  }
  return hits;
}

function rankingOf({ options: { embeddings, weights } }: MemoryStorage, failed: boolean, means: Means): Ranking {
  if (weights.vector === 0) return { ranking: 'full text', isLimited: true };
  if (failed) return { ranking: 'full text alone, since the embedding model did not answer', isLimited: true };
  const bound = means === 'matches' ? '; vectors rank only what full text finds, since the database has no pgvector' : '';
  return { ranking: `full text and ${embeddings.label}${bound}`, isLimited: embeddings.isLimited || means === 'matches' };
}
