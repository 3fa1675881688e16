import { LRUCache } from 'lru-cache';
import { ToolError } from '#tool-sdk';
import { backoffMs } from '#timing';

const PAUSES = { firstMs: 1_000, maxMs: 60_000 };
const MOST_KEYS = 1_000;

/** A server that ended by itself is started again after a pause, which doubles until it has answered a request. */
export class StartBackOff {
  private readonly failures = new LRUCache<string, { readonly count: number; readonly until: number }>({ max: MOST_KEYS });

  /** @throws ToolError `unavailable` during the pause */
  check(key: string, name: string): void {
    const leftMs = (this.failures.get(key)?.until ?? 0) - performance.now();
    if (leftMs <= 0) return;
    const seconds = Math.ceil(leftMs / 1_000);
    throw new ToolError(
      'unavailable',
      `The language server ${name} has ended by itself and is not started again before ${seconds} s have passed. Try again then, or use operations by symbol_name.`,
      { retryable: true, retryAfterMs: Math.ceil(leftMs) },
    );
  }

  failed(key: string): void {
    const count = (this.failures.get(key)?.count ?? 0) + 1;
    this.failures.set(key, { count, until: performance.now() + backoffMs(count, PAUSES) });
  }

  forget(key: string): void {
    this.failures.delete(key);
  }
}
