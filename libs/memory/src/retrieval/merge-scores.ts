/** How much each kind of match counts; only their ratio matters. */
export interface SearchWeights {
  readonly text: number;
  readonly vector: number;
}

export interface Scores {
  /** From 0 to 1, by the id of what was found. */
  readonly text: ReadonlyMap<string, number>;
  readonly vector: ReadonlyMap<string, number>;
}

export interface Scored {
  readonly id: string;
  /** From 0 to 1. */
  readonly score: number;
}

/** The weighted mean of both scores, best first; what has none in a search that does not count is left out. Equal scores are ordered by id. Pure. */
export function mergeScores({ text, vector }: Scores, weights: SearchWeights): Scored[] {
  const sum = weights.text + weights.vector;
  const scoreOf = (id: string) => (weights.text * bounded(text.get(id)) + weights.vector * bounded(vector.get(id))) / sum;
  return [...new Set([...text.keys(), ...vector.keys()])]
    .map((id) => ({ id, score: scoreOf(id) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

function bounded(score = 0): number {
  return Math.min(1, Math.max(0, score));
}
