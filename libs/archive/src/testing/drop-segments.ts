import { DropSigner } from '../retention/drop-signer.js';
import { droppedTo } from '../retention/drops.js';
import { storeLeaves } from '../segment/stored-leaves.js';
import { findInGeneration } from '../segment/segments.js';
import type { SignedArchive } from './signed-archive.js';
import type { Manifest } from '../segment/manifest.js';

/** Rules of the tenant of the sample events. */
const RULES = [{ tenantId: 'default', days: 30 }];
const DAY_MS = 24 * 3_600_000;

/** Drops the segments of a generation up to this event, as retention does on their 31st day. */
export async function dropSegments(
  { store, signer, published }: SignedArchive,
  {
    partition,
    generation = 1,
    toSeq,
    afterStep,
  }: { partition: string; generation?: number; toSeq: number; afterStep?: () => Promise<void> },
): Promise<Manifest[]> {
  const segments: Manifest[] = [];
  for (let after = await droppedTo(store, partition, generation); after < toSeq;) {
    const segment = await findInGeneration(store, partition, generation, after + 1);
    if (segment === undefined) break;
    segments.push(segment);
    after = segment.toSeq;
  }
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined) return [];
  const drops = new DropSigner({ store, signer, publishTo: published });
  const all = [
    ...segments.map((segment) => () => storeLeaves(store, segment)),
    () => drops.sign(first.fromSeq, last, RULES, last.lastTime + 31 * DAY_MS),
    () => drops.publish(),
    ...segments.map((segment) => () => store.delete(segment.file.name)),
  ];
  for (const step of all) {
    await step();
    await afterStep?.();
  }
  return segments;
}
