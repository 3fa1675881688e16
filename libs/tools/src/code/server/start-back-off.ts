import { LRUCache } from 'lru-cache';
import { ToolError } from '#tool-sdk';
import { backoffMs } from '#timing';

const PAUSES = { firstMs: 1_000, maxMs: 60_000 };
const MOST_KEYS = 1_000;
/** A server that sent too much, and behaves for this long, begins again with the shortest pause. */
const FLOOD_FORGIVEN_AFTER_MS = 600_000;

interface Failures {
  readonly count: number;
  readonly until: number;
  /** Answers count from then on. */
  readonly keptUntil: number;
}

/**
 * A server that ended by itself is started again after a pause, which doubles until it has answered a request. For one that sent
 * too much, answers in between prove nothing.
 */
export class StartBackOff {
  private readonly failures = new LRUCache<string, Failures>({ max: MOST_KEYS });

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

  failed(key: string, isFlood: boolean): void {
    const now = performance.now();
    const { count = 0, keptUntil = 0 } = this.failures.get(key) ?? {};
    const isOver = keptUntil > 0 && keptUntil < now;
    const next = (isOver ? 0 : count) + 1;
    const until = now + backoffMs(next, PAUSES);
    this.failures.set(key, { count: next, until, keptUntil: isFlood ? until + FLOOD_FORGIVEN_AFTER_MS : 0 });
  }

  forget(key: string): void {
    if ((this.failures.get(key)?.keptUntil ?? 0) <= performance.now()) this.failures.delete(key);
  }
}
