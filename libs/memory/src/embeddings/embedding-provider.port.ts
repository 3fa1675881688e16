/** Converts texts into vectors, similar ones for similar texts. */
export interface EmbeddingProvider {
  /** Name of the model; only vectors of the same model are compared. */
  readonly model: string;
  /** Description of the ranking in search results. */
  readonly label: string;
  /** True if synonyms are not found. */
  readonly isLimited: boolean;
  /** Least similarity (cosine); vectors of unrelated texts are below it. */
  readonly minSimilarity: number;
  /** One vector for each text, in their order. Rejects if there are none, or when `signal` aborts. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}
