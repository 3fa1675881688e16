import { LRUCache } from 'lru-cache';
import { findSegment, loadSegment, type ArchiveStore, type Manifest, type SealedEvent } from '#archive';
import { endedCallsName } from '../archive-names.js';
import { decodeEndedCalls, type EndedCall } from '../ended-calls.js';

/** Segments in memory with their events, and with their calls; an event takes about 1 kB. */
const LOADED_SEGMENTS = 16;
const LOADED_CALLS = 64;
const KNOWN_MANIFESTS = 20_000;

/**
 * Cache of segments of an archive, which never change. More may be read at once than fit: a segment evicted while it is read is
 * still returned to its caller (`ignoreFetchAbort`).
 */
export class SegmentCache {
  private readonly manifests = new LRUCache<string, Manifest>({ max: KNOWN_MANIFESTS });
  private readonly events: LRUCache<string, readonly SealedEvent[], Manifest>;
  private readonly calls: LRUCache<string, ReadonlyMap<string, EndedCall>, Manifest>;

  constructor(private readonly store: ArchiveStore) {
    this.events = new LRUCache({
      max: LOADED_SEGMENTS,
      ignoreFetchAbort: true,
      fetchMethod: async (_name, _stale, { context }) => (await loadSegment(store, context)).events,
    });
    this.calls = new LRUCache({
      max: LOADED_CALLS,
      ignoreFetchAbort: true,
      fetchMethod: async (_name, _stale, { context }) => {
        const file = await store.get(endedCallsName(context));
        return file === undefined ? new Map() : decodeEndedCalls(file);
      },
    });
  }

  /** Segment with the number, or the first after it; undefined if the archive ends before. */
  async segmentAt(partition: string, seq: number): Promise<Manifest | undefined> {
    const key = `${partition} ${seq}`;
    const cachedManifest = this.manifests.get(key);
    if (cachedManifest !== undefined) return cachedManifest;
    const found = await findSegment(this.store, partition, seq);
    if (found !== undefined) this.manifests.set(key, found);
    return found;
  }

  eventsOf(manifest: Manifest): Promise<readonly SealedEvent[]> {
    return this.events.forceFetch(manifest.file.name, { context: manifest });
  }

  endedCallsOf(manifest: Manifest): Promise<ReadonlyMap<string, EndedCall>> {
    return this.calls.forceFetch(manifest.file.name, { context: manifest });
  }
}
