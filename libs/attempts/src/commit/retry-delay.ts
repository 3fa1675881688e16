import type { RetryPolicy } from '#contracts';
import { backoffMs } from '#timing';

/**
 * Exponential backoff with full jitter: uniform in [0, min(cap, base · 2^failures)], so that calls which failed
 * together do not come back together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 *
 * `failures` excludes the present one. `random` is in [0, 1).
 */
export function retryDelay(policy: RetryPolicy, failures: number, capMs: number, random: () => number): number {
  const ceiling = backoffMs(failures + 1, { firstMs: policy.backoffMs, maxMs: Math.min(policy.maxBackoffMs, capMs) });
  return Math.floor(random() * (ceiling + 1));
}
