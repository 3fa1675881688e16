import type { Manifest } from '#archive';

/** Limits of archived calls and events in Redis, which are trimmed above either. */
export interface HotWindow {
  readonly maxAgeMs: number;
  /** Most ended calls of one partition. */
  readonly maxCalls: number;
}

/** Facts of a sealed segment for the window. */
export interface HotPart {
  readonly manifest: Pick<Manifest, 'fromSeq' | 'lastTime'>;
  readonly endedCalls: number;
}

/**
 * Least age of trimmed calls, however full Redis is: a gateway that lost an answer repeats its transition, and must find the
 * call. Above the default of `LOG_DEADLINE_MS`.
 */
const YOUNGEST_TRIMMED_MS = 15_000;

export interface HotNow {
  readonly nowMs: number;
  /** True if Redis is short of memory, which closes the window. */
  readonly isFull: boolean;
  /** Last event of an erased call: the window is closed for segments that begin up to it. */
  readonly eraseSeq?: number;
}

/** Number of the oldest segments outside of the window. */
export function countOutside(segments: readonly HotPart[], window: HotWindow, { nowMs, isFull, eraseSeq = 0 }: HotNow): number {
  let calls = segments.reduce((sum, { endedCalls }) => sum + endedCalls, 0);
  let count = 0;
  for (const { manifest, endedCalls } of segments) {
    const ageMs = nowMs - manifest.lastTime;
    const isOpen = !isFull && manifest.fromSeq > eraseSeq;
    if (ageMs < YOUNGEST_TRIMMED_MS || (isOpen && !(ageMs > window.maxAgeMs || calls > window.maxCalls))) break;
    calls -= endedCalls;
    count += 1;
  }
  return count;
}
