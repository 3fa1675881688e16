/** Turns texts into vectors of which similar texts have similar ones. */
export interface EmbeddingProvider {
  /** Vectors of one model are compared with each other only. */
  readonly model: string;
  /** What a search says of its ranking. */
  readonly label: string;
  /** It finds no other words for the same thing. */
  readonly isLimited: boolean;
  /** Vectors of unrelated texts are less similar than this (cosine). */
  readonly minSimilarity: number;
  /** One vector for each text, in their order. Rejects when there are none, or when `signal` aborts. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}
