import { backoffMs, type BackoffRange } from './backoff-ms.js';

/** Time without a failure after which the shortest pause is the next. */
const FORGIVEN_AFTER_MS = 600_000;

export interface PauseRange extends BackoffRange {
  /**
   * True: each pause is shortened by chance, by up to half, so that senders stopped together do not come back together.
   */
  readonly jitter?: boolean;
}

interface Pause {
  readonly failures: number;
  readonly since: number;
  readonly until: number;
}

/**
 * Pauses of senders that were stopped and of programs that ended, by key: longer after each failure. They shorten only with
 * time, or by `forget`: an answer in between proves nothing of a sender that sent too much.
 */
export class FailurePauses {
  /** The oldest first. */
  private readonly pauses = new Map<string, Pause>();

  constructor(
    private readonly range: PauseRange,
    private readonly now: () => number = () => performance.now(),
    private readonly random: () => number = Math.random,
  ) {}

  /** Returns the length of the pause in ms. */
  begin(key: string): number {
    const now = this.now();
    for (const [old, { since }] of this.pauses) {
      if (now - since <= FORGIVEN_AFTER_MS) break;
      this.pauses.delete(old);
    }
    const failures = (this.pauses.get(key)?.failures ?? 0) + 1;
    const longestMs = backoffMs(failures, this.range);
    const pauseMs = this.range.jitter === true ? Math.round(longestMs * (0.5 + this.random() / 2)) : longestMs;
    this.pauses.delete(key);
    this.pauses.set(key, { failures, since: now, until: now + pauseMs });
    return pauseMs;
  }

  /** Milliseconds until the end of the pause; 0 without one. */
  leftMs(key: string): number {
    return Math.max(0, (this.pauses.get(key)?.until ?? 0) - this.now());
  }

  /** Ends the pause of a program that works again. */
  forget(key: string): void {
    this.pauses.delete(key);
  }
}
