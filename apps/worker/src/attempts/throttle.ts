import type { Clock } from '../platform/clock.js';

/** Lets something happen at once, then at most once in `intervalMs`; what is asked for meanwhile happens together at the next turn. */
export class Throttle {
  private lastAt = -Infinity;
  private cancelTimer: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
    private readonly action: () => void,
  ) {}

  /** Answers true when this request will share a turn with an earlier one. */
  request(): boolean {
    if (this.closed) return false;
    if (this.cancelTimer) return true;
    const wait = this.lastAt + this.intervalMs - this.clock.now();
    if (wait <= 0) this.fire();
    else this.cancelTimer = this.clock.after(wait, () => this.fire());
    return false;
  }

  /** A turn that was due later happens now; afterwards nothing happens any more. */
  close(): void {
    if (this.closed) return;
    const due = this.cancelTimer !== undefined;
    this.cancelTimer?.();
    if (due) this.fire();
    this.closed = true;
  }

  /** As `close`, but the turn that was due is dropped. */
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
