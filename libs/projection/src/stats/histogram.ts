import type { Percentiles } from '#contracts';

/**
 * Times on a logarithmic scale: bucket n, in steps of a quarter, holds times from GROWTH^n to below GROWTH^(n+1/4) ms, so
 * every answer is at most 3 % off, and histograms of many places and times add up without loss. Bucket → how often.
 */
export type Histogram = Record<string, number>;

const GROWTH = 1.2;
const LOG_GROWTH = Math.log(GROWTH);
const STEP = 0.25;
/** Below 1 ms; and 40 days, above which nothing is told apart. */
const LOWEST = -1;
const HIGHEST = 120;

export function addTime(histogram: Histogram, ms: number): void {
  const bucket = ms < 1 ? LOWEST : Math.min(HIGHEST, Math.floor(Math.log(ms) / LOG_GROWTH / STEP + 1e-9) * STEP);
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

export function addHistogram(into: Histogram, from: Histogram): void {
  for (const [bucket, count] of Object.entries(from)) into[bucket] = (into[bucket] ?? 0) + count;
}

export function percentilesOf(histogram: Histogram): Percentiles {
  const buckets = Object.entries(histogram)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const count = buckets.reduce((sum, [, n]) => sum + n, 0);
  if (count === 0) return { count };
  const at = (share: number) => {
    let left = Math.ceil(share * count);
    for (const [bucket, n] of buckets) if ((left -= n) <= 0) return middleOf(bucket);
    return middleOf(HIGHEST);
  };
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** The time of a bucket that is off by the same share at both of its ends. */
function middleOf(bucket: number): number {
  if (bucket < 0) return 0;
  const middle = GROWTH ** (bucket + STEP / 2);
  return middle < 200 ? Math.round(middle * 10) / 10 : Math.round(middle);
}
