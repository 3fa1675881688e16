import { z } from 'zod';
import type { HttpEmbeddingSettings } from './embeddings/openai-embeddings.js';
import type { SearchWeights } from './retrieval/merge-scores.js';
import type { MemoryQuotas } from './write/usage.js';

const MEBIBYTE = 1_048_576;
/** Chunks of a tenant above which pgvector compares vectors, if the server has it. */
const EXACT_ROWS = 50_000;

const whole = (fallback: number) => z.coerce.number({ error: 'expected a whole number from 1' }).int().min(1).default(fallback);
const share = (fallback: number) => z.coerce.number({ error: 'expected a number from 0 to 1' }).min(0).max(1).default(fallback);

/** Environment variables of this library, for the schemas of apps. */
export const MEMORY_ENV = {
  MEMORY_TEXT_WEIGHT: share(0.5).describe('How much shared words count in searches of memory, from 0 to 1.'),
  MEMORY_VECTOR_WEIGHT: share(0.5).describe('How much similar vectors count, from 0 to 1.'),
  MEMORY_MIN_SIMILARITY: share(0.25).describe(
    'Vectors of EMBEDDINGS_MODEL that are less similar (cosine) count as not similar: depends on the model.',
  ),
  MEMORY_USER_QUOTA_BYTES: whole(64 * MEBIBYTE).meta({
    description: 'What the memory of one user may take in bytes, vectors included.',
    shownDefault: '`67108864` (64 MiB)',
  }),
  MEMORY_USER_QUOTA_ROWS: whole(20_000).describe('Parts of texts that one user may store; a part has about 1,200 characters.'),
  MEMORY_TENANT_QUOTA_BYTES: whole(2_048 * MEBIBYTE).meta({
    description: 'What the memory of all users of a tenant may take in bytes.',
    shownDefault: '`2147483648` (2 GiB)',
  }),
  MEMORY_TENANT_QUOTA_ROWS: whole(1_000_000).describe('Parts of texts that all users of a tenant may store.'),
  EMBEDDINGS_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Server with `POST /embeddings` of the OpenAI API, such as `https://api.openai.com/v1`. Not set: texts are compared by words and parts of words.',
    ),
  EMBEDDINGS_MODEL: z.string().min(1).max(200).optional().describe('Its model.'),
  EMBEDDINGS_API_KEY: z.string().min(1).optional().describe('Its key.'),
  EMBEDDINGS_DIMENSIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(16_000)
    .optional()
    .describe('Dimensions to ask for. Not set: those of the model.'),
};
const MemoryEnv = z.object(MEMORY_ENV);

export interface MemorySettings {
  readonly databaseUrl: string;
  /** Undefined for the comparison without a model. */
  readonly embeddings: HttpEmbeddingSettings | undefined;
  readonly weights: SearchWeights;
  readonly quotas: MemoryQuotas;
  readonly exactRows: number;
}

/** Settings; undefined without a database. @throws Error that names the wrong variables */
export function memorySettings(values: z.output<typeof MemoryEnv>, databaseUrl: string | undefined): MemorySettings | undefined {
  const { MEMORY_TEXT_WEIGHT: text, MEMORY_VECTOR_WEIGHT: vector, EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model } = values;
  if (text + vector === 0) throw new Error('MEMORY_TEXT_WEIGHT, MEMORY_VECTOR_WEIGHT: expected one of them above 0');
  if ((url === undefined) !== (model === undefined)) throw new Error('EMBEDDINGS_URL, EMBEDDINGS_MODEL: expected both or none');
  if (databaseUrl === undefined) return undefined;
  return {
    databaseUrl,
    embeddings:
      url === undefined || model === undefined
        ? undefined
        : {
            url: url.replace(/\/+$/, ''),
            model,
            apiKey: values.EMBEDDINGS_API_KEY,
            dimensions: values.EMBEDDINGS_DIMENSIONS,
            minSimilarity: values.MEMORY_MIN_SIMILARITY,
          },
    weights: { text, vector },
    quotas: {
      user: { bytes: values.MEMORY_USER_QUOTA_BYTES, rows: values.MEMORY_USER_QUOTA_ROWS },
      tenant: { bytes: values.MEMORY_TENANT_QUOTA_BYTES, rows: values.MEMORY_TENANT_QUOTA_ROWS },
    },
    exactRows: EXACT_ROWS,
  };
}
