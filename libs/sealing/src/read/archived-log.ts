import { LRUCache } from 'lru-cache';
import { ArchiveCorrupt, droppedSeq, openArchive, type ArchiveStore, type Manifest } from '#archive';
import { decodeSnapshot, type ArchivedCall, type ArchivedEvent, type LogArchive } from '#event-log';
import { partitionOf } from '#redis';
import { lateEndName, valueName } from '../archive-names.js';
import type { ContentKeys } from '../content/content-keys.port.js';
import type { EndedCall } from '../ended-calls.js';
import { ArchivedContent } from './archived-content.js';
import { readableStore } from './readable-store.js';
import { SegmentCache } from './segment-cache.js';
import { segmentOfTime } from './segment-of-time.js';

/** Pattern `<partition>-<ULID>`. */
const CALL_ID = /^\d{2,3}-[0-9A-HJKMNP-TV-Z]{26}$/;
/** Largest difference between the clock of a gateway, in the id of a call, and that of Redis, in its events. */
const CLOCK_SLACK_MS = 30_000;
/** Segments around its time that are searched for a call. */
const MAX_SEARCHED = 64;
const REMEMBERED_MISSES = 10_000;
const MISS_TTL_MS = 5_000;
const PARTITIONS = 999;
/** Time for which dropped events may still be answered from memory. */
const DROPPED_TTL_MS = 60_000;

/** Call with the segment in which it ended. */
export interface FoundCall {
  readonly call: EndedCall;
  readonly segment: Manifest;
}

/** Reads calls and events that have left Redis from the archive. Rejects with `ArchiveUnavailable` while it is unreachable. */
export class ArchivedLog implements LogArchive {
  private readonly segments: SegmentCache;
  private readonly content: ArchivedContent;
  private readonly missing = new LRUCache<string, true>({ max: REMEMBERED_MISSES, ttl: MISS_TTL_MS });

  private readonly dropped: LRUCache<string, number>;
  private readonly store: ArchiveStore;

  /** `keys`: those of calls with encrypted content, which is unreadable without them. */
  constructor(store: ArchiveStore, keys?: Pick<ContentKeys, 'read'>) {
    this.store = readableStore(store);
    this.segments = new SegmentCache(this.store);
    this.content = new ArchivedContent(keys);
    this.dropped = new LRUCache({
      max: PARTITIONS,
      ttl: DROPPED_TTL_MS,
      fetchMethod: (partition) => droppedSeq(this.store, partition),
    });
  }

  droppedSeq(partition: string): Promise<number> {
    return this.dropped.forceFetch(partition);
  }

  async range(partition: string, from: number, to: number, limit: number): Promise<readonly ArchivedEvent[]> {
    const found: ArchivedEvent[] = [];
    for (let seq = Math.max(from, (await this.droppedSeq(partition)) + 1); seq <= to && found.length < limit;) {
      const segment = await this.segments.segmentAt(partition, seq);
      if (segment === undefined || segment.fromSeq > seq) break;
      const events = await this.eventsUnlessDropped(segment);
      found.push(...events.slice(seq - segment.fromSeq, Math.min(to, segment.toSeq) - segment.fromSeq + 1));
      seq = segment.toSeq + 1;
    }
    return this.content.readable(found.slice(0, limit));
  }

  async call(callId: string): Promise<ArchivedCall | undefined> {
    return (await this.endedCall(callId))?.call;
  }

  async value(callId: string, ref: string): Promise<Buffer | undefined> {
    const found = await this.endedCall(callId);
    const sha256 = found?.call.values[ref];
    const bytes = found && sha256 !== undefined ? await this.store.get(valueName(found.segment, sha256)) : undefined;
    return bytes && this.content.value(callId, ref, bytes, found?.call.encrypted === true);
  }

  /** Call with the segment in which it ended; undefined if it has not ended, is not archived, or its beginning was dropped. */
  async endedCall(callId: string): Promise<FoundCall | undefined> {
    const found = await this.archivedCall(callId);
    if (found === undefined) return undefined;
    const dropped = await this.droppedSeq(partitionOf(callId));
    const [submitted = Infinity] = dropped === 0 ? [] : decodeSnapshot(callId, found.call.snapshot).lifecycleSeqs;
    return submitted <= dropped ? undefined : found;
  }

  /** Like `endedCall`, but also finds a call whose beginning was dropped. */
  async archivedCall(callId: string): Promise<FoundCall | undefined> {
    if (!CALL_ID.test(callId) || this.missing.has(callId)) return undefined;
    const found = (await this.nearSubmission(callId)) ?? (await this.lateEnd(callId));
    if (found === undefined) this.missing.set(callId, true);
    return found;
  }

  /** Events of a segment; none if it was dropped meanwhile. */
  private async eventsUnlessDropped(segment: Manifest): Promise<readonly ArchivedEvent[]> {
    try {
      return await this.segments.eventsOf(segment);
    } catch (error) {
      if (!(error instanceof ArchiveCorrupt)) throw error;
      this.dropped.delete(segment.partition);
      if (segment.toSeq <= (await this.droppedSeq(segment.partition))) return [];
      throw error;
    }
  }

  /** Searches the segment of the submission and the next, in which most calls end, then their neighbours. */
  private async nearSubmission(callId: string): Promise<FoundCall | undefined> {
    const partition = partitionOf(callId);
    const submittedAt = timeOfUlid(callId.slice(callId.indexOf('-') + 1));
    let segment = await segmentOfTime(this.segments, partition, submittedAt - CLOCK_SLACK_MS);
    for (let searched = 0; segment !== undefined && searched < MAX_SEARCHED; searched += 1) {
      const found = await this.endedIn(segment, callId);
      if (found !== undefined) return found;
      if (segment.firstTime > submittedAt + CLOCK_SLACK_MS) return undefined;
      segment = await this.segments.segmentAt(partition, segment.toSeq + 1);
    }
    return undefined;
  }

  private async lateEnd(callId: string): Promise<FoundCall | undefined> {
    const toSeq = await this.store.get(lateEndName(callId));
    const segment = toSeq && (await this.segments.segmentAt(partitionOf(callId), Number(toSeq.toString())));
    return segment && this.endedIn(segment, callId);
  }

  private async endedIn(segment: Manifest, callId: string): Promise<FoundCall | undefined> {
    const call = (await this.segments.endedCallsOf(segment)).get(callId);
    return call && { call, segment };
  }
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARS = 10;

/** Milliseconds since 1970. */
function timeOfUlid(ulid: string): number {
  return Array.from(ulid.slice(0, TIME_CHARS)).reduce((time, char) => time * CROCKFORD.length + CROCKFORD.indexOf(char), 0);
}

/** Opens an archive for reading; see `openArchive` for addresses and errors. */
export async function openArchivedLog(url: string, keys?: Pick<ContentKeys, 'read'>): Promise<ArchivedLog> {
  return new ArchivedLog(await openArchive(url, { readOnly: true }), keys);
}
