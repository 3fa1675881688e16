import type { Manifest } from '#archive';
import type { SegmentCache } from './segment-cache.js';

/** Number above all sequence numbers of a search. */
const MAX_SEQ = Number.MAX_SAFE_INTEGER;

/** First segment with an event at or after `timeMs`; undefined if all are older. Binary search, since times rise with the numbers. */
export async function segmentOfTime(segments: SegmentCache, partition: string, timeMs: number): Promise<Manifest | undefined> {
  let found: Manifest | undefined;
  let [low, high] = [1, await firstBeyondEnd(segments, partition)];
  while (low < high) {
    const segment = await segments.segmentAt(partition, low + Math.floor((high - low) / 2));
    if (segment === undefined || segment.lastTime >= timeMs) {
      if (segment !== undefined) found = segment;
      high = segment === undefined ? low + Math.floor((high - low) / 2) : Math.min(segment.fromSeq, low + Math.floor((high - low) / 2));
    } else low = segment.toSeq + 1;
  }
  return found;
}

/** Number behind the last segment, doubled until none is found. */
async function firstBeyondEnd(segments: SegmentCache, partition: string): Promise<number> {
  let seq = 4_096;
  while (seq < MAX_SEQ && (await segments.segmentAt(partition, seq)) !== undefined) seq *= 2;
  return seq;
}
