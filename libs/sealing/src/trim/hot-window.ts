import type { Manifest } from '#archive';

/** What stays in Redis of what is archived: calls and events are trimmed when either bound is exceeded. */
export interface HotWindow {
  readonly maxAgeMs: number;
  /** Ended calls of one partition. */
  readonly maxCalls: number;
}

/** What is asked of a sealed segment. */
export interface HotPart {
  readonly manifest: Pick<Manifest, 'fromSeq' | 'lastTime'>;
  readonly endedCalls: number;
}

/**
 * Nothing younger leaves Redis, however full it is: a gateway that lost an answer repeats its transition, and must find the call.
 * More than the default of `LOG_DEADLINE_MS`.
 */
const YOUNGEST_TRIMMED_MS = 15_000;

export interface HotNow {
  readonly nowMs: number;
  /** Redis needs the memory, so the window is closed. */
  readonly isFull: boolean;
  /** The window is closed for segments that begin up to this event: a call in them is erased. */
  readonly eraseSeq?: number;
}

/** How many of the oldest segments are outside of the window. */
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
