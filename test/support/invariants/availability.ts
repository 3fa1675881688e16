import type { AwayMs } from './check-call.js';

/** How long a part needs after its return until it works again: reconnects, leases, the reconciler's delay. */
const RECOVERY_MS = 5_000;

/** Since when, and when again, the parts that end calls were there: Redis and at least one worker. */
export class Availability {
  private readonly there = new Set<string>();
  private readonly gaps: { from: number; to: number }[] = [];
  private awaySince: number | undefined = 0;

  began(part: string): void {
    this.there.add(part);
    this.look();
  }

  ended(part: string): void {
    this.there.delete(part);
    // Work of an ended part is recovered only after its lease has expired.
    this.gaps.push({ from: Date.now(), to: Date.now() + LEASE_MS });
    this.look();
  }

  readonly awayMs: AwayMs = (from, to) => {
    const all = this.awaySince === undefined ? this.gaps : [...this.gaps, { from: this.awaySince, to: Infinity }];
    return all.reduce((sum, gap) => sum + Math.max(0, Math.min(to, gap.to) - Math.max(from, gap.from)), 0);
  };

  private look(): void {
    const able = this.there.has('redis') && [...this.there].some((part) => part.startsWith('worker'));
    if (!able) this.awaySince ??= Date.now();
    else if (this.awaySince !== undefined) {
      this.gaps.push({ from: this.awaySince, to: Date.now() + RECOVERY_MS });
      this.awaySince = undefined;
    }
  }
}

/** The default of `LEASE_MS`, the longest that a lost worker keeps a call. */
const LEASE_MS = 30_000;
