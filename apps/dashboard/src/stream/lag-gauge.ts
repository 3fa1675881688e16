import { percentilesOf } from './series.js';

const KEPT = 512;
const WINDOW_MS = 30_000;

/**
 * The delay between the write of an event and its arrival here, by the clocks of Redis and of this machine. If that of Redis is
 * ahead, the smallest difference seen is taken as the clock offset.
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

  /** Milliseconds; undefined if no event arrived in the last 30 s. */
  p95(now: number): number | undefined {
    const recent = this.samples.filter(({ at }) => now - at < WINDOW_MS).map(({ ms }) => ms - this.ahead);
    return percentilesOf(recent).p95;
  }
}
