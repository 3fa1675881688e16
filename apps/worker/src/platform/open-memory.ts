import { Memory, type MemorySettings } from '#memory';
import { type EgressPolicy, SafeFetch } from '#sandbox';

/** Largest answer: 64 vectors of many dimensions as JSON. */
const MOST_BYTES = 32 * 1_048_576;
const TIMEOUT_MS = 30_000;

/**
 * Opens the memory of tools. Requests to its embedding model follow the egress rules of tools: a private address requires an
 * entry in EGRESS_ALLOW_HOSTS.
 */
export function openMemory(settings: MemorySettings, egress: EgressPolicy, onError: (error: unknown) => void): Memory {
  const fetcher = new SafeFetch(egress);
  return Memory.open(
    settings,
    async (url, { headers, body, signal }) => {
      const options = { method: 'POST', headers, body, maxBytes: MOST_BYTES, label: 'the embedding model' } as const;
      const answer = await fetcher.send(url, { ...options, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
      return { status: answer.status, body: answer.body.toString('utf8') };
    },
    onError,
  );
}
