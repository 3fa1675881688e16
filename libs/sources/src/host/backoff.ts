const FIRST_MS = 1_000;
const MAX_MS = 60_000;

/** Exponential back-off with jitter: 1 s doubled up to 60 s, of which at least half is waited. `failures` counts from 1. */
export function backoffMs(failures: number, random: () => number): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.max(FIRST_MS, Math.round(full * (0.5 + random() / 2)));
}
