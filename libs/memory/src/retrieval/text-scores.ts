import { searchWords } from '../text/search-words.js';

/**
 * Share of the query in each text, from 0 to 1: the common words, weighted by rarity. `total`: number of all texts, of which
 * `texts` contain a word of the query. Pure.
 */
export function textScores(query: readonly string[], texts: ReadonlyMap<string, string>, total: number): ReadonlyMap<string, number> {
  const found = [...texts].map(([id, text]) => [id, new Set(searchWords(text))] as const);
  const rarity = new Map(
    query.map((word) => {
      const having = found.filter(([, words]) => words.has(word)).length;
      return [word, Math.log(1 + (Math.max(total, found.length) + 1) / (having + 0.5))] as const;
    }),
  );
  const whole = [...rarity.values()].reduce((sum, weight) => sum + weight, 0);
  const shared = (words: ReadonlySet<string>) => [...rarity].reduce((sum, [word, weight]) => sum + (words.has(word) ? weight : 0), 0);
  return new Map(found.map(([id, words]) => [id, shared(words) / whole]));
}
