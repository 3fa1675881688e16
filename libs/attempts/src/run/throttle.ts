import type { Clock } from '../clock.js';

/** Runs an action at once, then at most once in `intervalMs`. Requests in between share the next run. */
export class Throttle {
  private lastAt = -Infinity;
  private cancelTimer: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
    private readonly action: () => void,
  ) {}

  /** Returns true when this request shares a run with an earlier one. */
  request(): boolean {
    if (this.closed) return false;
    if (this.cancelTimer) return true;
    const wait = this.lastAt + this.intervalMs - this.clock.now();
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

  /** As `close`, but drops the pending action. */
  cancel(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.closed = true;
  }

  private fire(): void {
    this.cancelTimer = undefined;
    this.lastAt = this.clock.now();
    this.action();
  }
}
