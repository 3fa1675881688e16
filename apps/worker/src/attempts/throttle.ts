import type { Clock } from '../platform/clock.js';

/** Lets something happen at once, then at most once in `intervalMs`; what is asked for meanwhile happens together at the next turn. */
export class Throttle {
  private lastAt = -Infinity;
  private callOff: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
    private readonly act: () => void,
  ) {}

  /** Answers true when this request will share a turn with an earlier one. */
  ask(): boolean {
    if (this.closed) return false;
    if (this.callOff) return true;
    const wait = this.lastAt + this.intervalMs - this.clock.now();
    if (wait <= 0) this.turn();
    else this.callOff = this.clock.after(wait, () => this.turn());
    return false;
  }

  /** A turn that was due later happens now; afterwards nothing happens any more. */
  close(): void {
    if (this.closed) return;
    const due = this.callOff !== undefined;
    this.callOff?.();
    if (due) this.turn();
    this.closed = true;
  }

  /** As `close`, but the turn that was due is dropped. */
  abandon(): void {
    this.callOff?.();
    this.callOff = undefined;
    this.closed = true;
  }

  private turn(): void {
    this.callOff = undefined;
    this.lastAt = this.clock.now();
    this.act();
  }
}
