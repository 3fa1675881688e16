import type { EmbeddingProvider } from './embedding-provider.port.js';

export interface Embedding {
  /** Model and dimensions: only vectors with the same value are compared. */
  readonly model: string;
  /** Vector of length 1. */
  readonly vector: readonly number[];
}

/** Embeddings of the texts. Undefined for a vector without a direction. @throws Error if the provider's response has another form */
export async function embedAll(
  provider: EmbeddingProvider,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly (Embedding | undefined)[]> {
  const vectors = await provider.embed(texts, signal);
  if (vectors.length !== texts.length) throw new Error(`expected ${texts.length} vectors, got ${vectors.length}`);
  return vectors.map((vector) => {
    const unit = unitVector(vector);
    return unit && { model: `${provider.model}:${unit.length}`, vector: unit };
  });
}

/** Vector scaled to length 1; undefined for one without a direction or with invalid numbers. */
export function unitVector(vector: readonly number[]): number[] | undefined {
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : undefined;
}

/** Vector in PostgreSQL's text form of `real[]`. */
export function arrayText(vector: readonly number[]): string {
  return `{${vector.map((value) => value.toPrecision(8)).join(',')}}`;
}

/** Vector in the text form of pgvector. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.map((value) => value.toPrecision(8)).join(',')}]`;
}

const HEADER_BYTES = 20;
const ELEMENT_BYTES = 8;

/** Inner product with a `real[]` in the binary form of `array_send`: a header, then for each element its length and its value. */
export function productWithPacked(packed: Buffer, vector: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < vector.length; index += 1)
    sum += packed.readFloatBE(HEADER_BYTES + index * ELEMENT_BYTES + 4) * (vector[index] ?? 0);
  return sum;
}
