import type { RequestOptions } from '../client-options.js';
import { signalOf } from '../http/deadline.js';

/** One request's share of a long wait: below what proxies tend to cut idle connections after. */
const POLL_MS = 30_000;

type Share = RequestOptions & { readonly waitMs: number };

/** Asks `begin` once, then `again`, each held by the gateway, until `done`; the caller's deadline is over all of it. */
export async function waitUntil<T>(
  options: RequestOptions,
  begin: (share: Share) => Promise<T>,
  done: (value: T) => boolean,
  again: (value: T, share: Share) => Promise<T>,
): Promise<T> {
  const signal = signalOf(options);
  const share: Share = { signal, timeoutMs: undefined, waitMs: POLL_MS };
  let value = await begin(share);
  while (!done(value)) value = await again(value, share);
  return value;
}
