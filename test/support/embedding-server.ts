import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Words that mean the same share an axis. */
const CONCEPTS: readonly (readonly string[])[] = [
  ['car', 'automobile', 'vehicle'],
  ['dog', 'puppy', 'hound'],
  ['holiday', 'vacation', 'trip'],
  ['doctor', 'physician'],
];

const OTHER_AXES = 251;

/** A vector by concepts, so that paraphrases are similar. A text without any has an axis of its own. */
export function conceptVector(text: string): number[] {
  const words = new Set(text.toLowerCase().match(/[a-z]+/g) ?? []);
  const axes = CONCEPTS.map((concept) => (concept.some((word) => words.has(word)) ? 1 : 0));
  const own = axes.some((axis) => axis > 0) ? -1 : Buffer.from(text).reduce((sum, byte) => (sum * 31 + byte) % OTHER_AXES, 7);
  return [...axes, ...Array.from({ length: OTHER_AXES }, (_axis, index) => (index === own ? 1 : 0))];
}

export interface EmbeddingServer {
  readonly url: string;
  /** `host:port`, for EGRESS_ALLOW_HOSTS. */
  readonly host: string;
  /** Every text that it was asked about. */
  readonly texts: string[];
  /** The header of each request. */
  readonly authorizations: (string | undefined)[];
  /** Kind of all further responses. */
  answer: 'vectors' | 'error' | 'nonsense';
  close(): Promise<void>;
}

/** `POST /v1/embeddings` as the OpenAI API has it, scripted. */
export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const [texts, authorizations]: [string[], (string | undefined)[]] = [[], []];
  const state: { answer: EmbeddingServer['answer'] } = { answer: 'vectors' };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      authorizations.push(request.headers.authorization);
      if (request.url !== '/v1/embeddings' || state.answer === 'error') return void response.writeHead(500).end();
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] };
      texts.push(...input);
      const data = state.answer === 'nonsense' ? 'none' : input.map((text, index) => ({ index, embedding: conceptVector(text) })).reverse();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/v1`,
    host,
    texts,
    authorizations,
    get answer() {
      return state.answer;
    },
    set answer(answer) {
      state.answer = answer;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
