import { backoffMs as doubledMs } from '#timing';

const PAUSES = { firstMs: 1_000, maxMs: 60_000 };

/** Exponential back-off with jitter: 1 s doubled up to 60 s, of which at least half is waited. `failures` counts from 1. */
export function backoffMs(failures: number, random: () => number): number {
  return Math.max(PAUSES.firstMs, Math.round(doubledMs(failures, PAUSES) * (0.5 + random() / 2)));
}
