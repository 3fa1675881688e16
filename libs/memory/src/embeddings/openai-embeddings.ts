import { z } from 'zod';
import type { EmbeddingProvider } from './embedding-provider.port.js';

/** Most texts in one request. */
const BATCH = 64;

export interface HttpEmbeddingSettings {
  /** URL up to, but without, `/embeddings`, such as `https://api.openai.com/v1`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly dimensions: number | undefined;
  readonly minSimilarity: number;
}

/** Sends JSON by POST; resolves with status and body of the response. Rejects if there is none, or when `signal` aborts. */
export type PostJson = (
  url: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string; readonly signal: AbortSignal },
) => Promise<{ readonly status: number; readonly body: string }>;

const Answer = z.object({
  data: z.array(z.object({ index: z.number().int().min(0), embedding: z.array(z.number()).min(1).max(16_000) })),
});

/** Embeddings of a server with `POST /embeddings` of the OpenAI API. */
export class OpenAiEmbeddings implements EmbeddingProvider {
  readonly model: string;
  readonly label: string;
  readonly isLimited = false;
  readonly minSimilarity: number;

  constructor(
    private readonly settings: HttpEmbeddingSettings,
    private readonly post: PostJson,
  ) {
    this.model = settings.model;
    this.label = `embeddings of ${settings.model}`;
    this.minSimilarity = settings.minSimilarity;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const vectors: (readonly number[])[] = [];
    for (let at = 0; at < texts.length; at += BATCH) vectors.push(...(await this.batch(texts.slice(at, at + BATCH), signal)));
    return vectors;
  }

  private async batch(input: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const { url, model, apiKey, dimensions } = this.settings;
    const { status, body } = await this.post(`${url}/embeddings`, {
      headers: { 'content-type': 'application/json', ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ model, input, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) }),
      signal,
    });
    if (status !== 200) throw new Error(`the embedding model answered with status ${status}`);
    const { data } = Answer.parse(JSON.parse(body));
    const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]));
    return input.map((_text, index) => {
      const vector = byIndex.get(index);
      if (vector === undefined) throw new Error(`the embedding model gave no vector for text ${index}`);
      return vector;
    });
  }
}
