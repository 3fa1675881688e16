import { percentilesOf } from './series.js';

const KEPT = 512;
const WINDOW_MS = 30_000;

/**
 * How long after they were written events reach this page. Written is by the clock of Redis, received by that of this
 * machine; where the first is ahead, the smallest difference seen stands for the distance of the clocks.
 */
export class LagGauge {
  private readonly samples: { readonly ms: number; readonly at: number }[] = [];
  private next = 0;
  private ahead = 0;

  measure(ms: number, at: number): void {
    this.ahead = Math.min(this.ahead, ms);
    this.samples[this.next] = { ms, at };
    this.next = (this.next + 1) % KEPT;
  }

  /** Milliseconds; undefined when nothing came for half a minute. */
  p95(now: number): number | undefined {
    const recent = this.samples.filter(({ at }) => now - at < WINDOW_MS).map(({ ms }) => ms - this.ahead);
    return percentilesOf(recent).p95;
  }
}
