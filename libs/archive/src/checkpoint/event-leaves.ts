import { ArchiveCorrupt } from '../archive-errors.js';
import { leavesOf } from '../segment/stored-leaves.js';
import { nextSegmentName } from '../segment/segment-listing.js';
import { readManifest } from '../segment/segments.js';
import { segmentName } from '../segment/names.js';
import type { LeafHashes } from '../merkle/tiles.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/**
 * Leaf hashes of a generation's events, read from its segments, or from the stored hashes of dropped ones. Caches those of the
 * last segment.
 */
export function eventLeaves(store: ArchiveStore, partition: string, generation: number, firstSeq: number): LeafHashes {
  let cache: { fromSeq: number; toSeq: number; hashes: readonly Buffer[] } = { fromSeq: 1, toSeq: 0, hashes: [] };
  return async (from, to) => {
    const leaves: Buffer[] = [];
    for (let seq = firstSeq + from; seq < firstSeq + to; seq = cache.toSeq + 1) {
      if (seq < cache.fromSeq || seq > cache.toSeq) cache = await readLeaves(store, partition, generation, seq);
      leaves.push(...cache.hashes.slice(seq - cache.fromSeq, firstSeq + to - cache.fromSeq));
    }
    return leaves;
  };
}

async function readLeaves(store: ArchiveStore, partition: string, generation: number, seq: number) {
  const name = await nextSegmentName(store, partition, generation, seq);
  const manifest = name === undefined ? undefined : await readManifest(store, name);
  if (manifest === undefined || manifest.fromSeq > seq)
    throw new ArchiveCorrupt(segmentName({ partition, generation, toSeq: seq }, 'file'), `no segment of the generation holds event ${seq}`);
  return { fromSeq: manifest.fromSeq, toSeq: manifest.toSeq, hashes: await leavesOf(store, manifest) };
}
