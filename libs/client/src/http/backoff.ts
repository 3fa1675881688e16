const BASE_MS = 200;
const MAX_MS = 10_000;

/**
 * Delay in ms before retry `n` (1 is the first): exponential with full jitter (Brooker, AWS 2015), added to the server's
 * `Retry-After`. `random` is in [0, 1).
 */
export function backoffMs(n: number, random: number, retryAfterMs = 0): number {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** (n - 1));
  return retryAfterMs + Math.round(ceiling * random);
}

/** `Retry-After` (RFC 9110, 10.2.3) in milliseconds: seconds or a date. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
