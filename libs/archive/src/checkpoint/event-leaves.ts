import { ArchiveCorrupt } from '../archive-errors.js';
import { leafHash } from '../merkle/hashes.js';
import { nextSegmentName } from '../segment/segment-listing.js';
import { loadSegment, readManifest } from '../segment/segments.js';
import { segmentName } from '../segment/names.js';
import type { LeafHashes } from '../merkle/tiles.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/** The leaf hashes of a generation's events, read from its segments. Keeps those of the segment read last. */
export function eventLeaves(store: ArchiveStore, partition: string, generation: number, firstSeq: number): LeafHashes {
  let kept: { fromSeq: number; toSeq: number; hashes: readonly Buffer[] } = { fromSeq: 1, toSeq: 0, hashes: [] };
  return async (from, to) => {
    const leaves: Buffer[] = [];
    for (let seq = firstSeq + from; seq < firstSeq + to; seq = kept.toSeq + 1) {
      if (seq < kept.fromSeq || seq > kept.toSeq) kept = await readLeaves(store, partition, generation, seq);
      leaves.push(...kept.hashes.slice(seq - kept.fromSeq, firstSeq + to - kept.fromSeq));
    }
    return leaves;
  };
}

async function readLeaves(store: ArchiveStore, partition: string, generation: number, seq: number) {
  const name = await nextSegmentName(store, partition, generation, seq);
  const manifest = name === undefined ? undefined : await readManifest(store, name);
  if (manifest === undefined || manifest.fromSeq > seq)
    throw new ArchiveCorrupt(segmentName({ partition, generation, toSeq: seq }, 'file'), `no segment of the generation holds event ${seq}`);
  const { lines } = await loadSegment(store, manifest);
  return { fromSeq: manifest.fromSeq, toSeq: manifest.toSeq, hashes: lines.map(leafHash) };
}
