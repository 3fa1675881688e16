import { searchWords } from '../text/search-words.js';
import type { EmbeddingProvider } from './embedding-provider.port.js';

const DIMENSIONS = 512;
const NGRAM = 3;

/**
 * Embeddings without model and network: words and their trigrams, hashed into a vector. Finds other forms of a word and
 * misspelt ones, but no synonyms.
 */
export const OFFLINE_EMBEDDINGS: EmbeddingProvider = {
  model: 'hashed-ngrams',
  label: 'hashed n-grams, since no embedding model is configured: other words for the same thing are not found',
  isLimited: true,
  minSimilarity: 0.2,
  embed: (texts) => Promise.resolve(texts.map(hashedNgrams)),
};

export function hashedNgrams(text: string): number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  const add = (feature: string, weight: number) => {
    const hash = fnv1a(feature);
    const at = hash % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + (hash & 0x8000_0000 ? -weight : weight);
  };
  for (const word of searchWords(text)) {
    add(word, 1);
    const padded = ` ${word} `;
    for (let at = 0; at + NGRAM <= padded.length; at += 1) add(padded.slice(at, at + NGRAM), 0.5);
  }
  return vector;
}

/** FNV-1a hash, 32 bits, unsigned: http://www.isthe.com/chongo/tech/comp/fnv/ */
function fnv1a(text: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  return hash >>> 0;
}
