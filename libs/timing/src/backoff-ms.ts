export interface BackoffRange {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Pause after `failures` failures in a row, in milliseconds: `firstMs` after the first, doubled with each further one, at most `maxMs`. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffRange): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs);
}
