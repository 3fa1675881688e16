import type { Clock } from '../clock.js';

/**
 * Runs an action at most once in `intervalMs()` on average, and at most `burst` times at once. Early requests share the next
 * run.
 *
 * No `throttleTime` of RxJS or `p-throttle`: the interval changes while it runs, and bursts are allowed.
 */
export class Throttle {
  /** Time up to which runs have used their rate of one in `intervalMs`. */
  private paidAt = -Infinity;
  private cancelTimer: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: () => number,
    private readonly action: () => void,
    private readonly burst = 1,
  ) {}

  /** Requests a run. Returns true if the request shares a run with an earlier one. */
  request(): boolean {
    if (this.closed) return false;
    if (this.cancelTimer) return true;
    const wait = this.paidAt - (this.burst - 1) * this.intervalMs() - this.clock.now();
    if (wait <= 0) this.fire();
    else this.cancelTimer = this.clock.after(wait, () => this.fire());
    return false;
  }

  /** Runs a pending action now. Later requests do nothing. */
  close(): void {
    if (this.closed) return;
    const due = this.cancelTimer !== undefined;
    this.cancelTimer?.();
    if (due) this.fire();
    this.closed = true;
  }

  /** Closes, and drops the pending action. */
  cancel(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.closed = true;
  }

  private fire(): void {
    this.cancelTimer = undefined;
    this.paidAt = Math.max(this.paidAt, this.clock.now()) + this.intervalMs();
    this.action();
  }
}
