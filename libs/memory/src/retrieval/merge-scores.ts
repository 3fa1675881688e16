/** Weights of both kinds of match; only their ratio matters. */
export interface SearchWeights {
  readonly text: number;
  readonly vector: number;
}

export interface Scores {
  /** Scores from 0 to 1, by the id of the match. */
  readonly text: ReadonlyMap<string, number>;
  readonly vector: ReadonlyMap<string, number>;
}

export interface Scored {
  readonly id: string;
  /** Score from 0 to 1. */
  readonly score: number;
}

/** Weighted means of both scores, best first; entries with a score of 0 are omitted. Equal scores are ordered by id. Pure. */
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
