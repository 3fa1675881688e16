import type { EmbeddingProvider } from './embedding-provider.port.js';

export interface Embedding {
  /** Model and dimensions: only vectors with the same mark are compared. */
  readonly model: string;
  /** Of length 1. */
  readonly vector: readonly number[];
}

/** Embeddings of the texts. Undefined for a vector without a direction. @throws Error when the provider's answer has another form */
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

/** The vector with length 1; undefined for one without a direction or with numbers that are none. */
export function unitVector(vector: readonly number[]): number[] | undefined {
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : undefined;
}

/** As PostgreSQL reads `real[]`. */
export function arrayText(vector: readonly number[]): string {
  return `{${vector.map((value) => value.toPrecision(8)).join(',')}}`;
}

/** As pgvector reads `vector`. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.map((value) => value.toPrecision(8)).join(',')}]`;
}

const HEADER_BYTES = 20;
const ELEMENT_BYTES = 8;

/** The inner product with a `real[]` as `array_send` gives it: a header, then for each element its length and its value. */
export function productWithPacked(packed: Buffer, vector: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < vector.length; index += 1)
    sum += packed.readFloatBE(HEADER_BYTES + index * ELEMENT_BYTES + 4) * (vector[index] ?? 0);
  return sum;
}
