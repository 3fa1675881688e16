import type { RequestOptions } from '../client-options.js';
import { signalOf } from '../http/deadline.js';

/** Longest wait of one request: shorter than the idle timeout of common proxies. */
const POLL_MS = 30_000;

type Poll = RequestOptions & { readonly waitMs: number };

/** Calls `begin` once, then `next` until `done`. Each request waits at the gateway. The caller's deadline covers all of them. */
export async function waitUntil<T>(
  options: RequestOptions,
  begin: (poll: Poll) => Promise<T>,
  done: (value: T) => boolean,
  next: (value: T, poll: Poll) => Promise<T>,
): Promise<T> {
  const poll: Poll = { signal: signalOf(options), timeoutMs: undefined, waitMs: POLL_MS };
  let value = await begin(poll);
  while (!done(value)) value = await next(value, poll);
  return value;
}
