import { ArchiveConflict, ArchiveCorrupt } from '../archive-errors.js';
import { sha256 } from '../merkle/hashes.js';
import { splitLines } from './event-lines.js';
import { decompress, readLines, readText, type SealedSegment } from './segment.js';
import { manifestBytes, parseManifest, type Manifest } from './manifest.js';
import { generationsOf, lastSegmentName, nextSegmentName } from './segment-listing.js';
import type { SealedEvent } from './event-lines.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/**
 * Writes file and manifest, reads both back and verifies them. Returns the stored manifest. Safe to repeat after a crash.
 *
 * An existing file of the same events by another compressor stays, and the manifest describes that file.
 *
 * @throws ArchiveConflict if the names have other events
 * @throws ArchiveCorrupt if the store returns other bytes than written
 */
export async function storeSegment(store: ArchiveStore, sealed: SealedSegment): Promise<Manifest> {
  await store.put(sealed.fileName, sealed.file);
  const file = await read(store, sealed.fileName);
  const manifest = file.equals(sealed.file) ? sealed.manifest : describe(file, sealed);
  await store.put(sealed.manifestName, manifestBytes(manifest));
  const stored = await read(store, sealed.manifestName);
  if (!stored.equals(manifestBytes(manifest)))
    throw new ArchiveConflict(sealed.manifestName, 'describes other events than those to be sealed, or was not stored as written');
  return manifest;
}

/**
 * Finds the segment with `seq`, or the first after it; undefined for none. Of several generations the newest with the number
 * decides. Needs two concurrent list requests while there is one generation.
 */
export async function findSegment(store: ArchiveStore, partition: string, seq: number): Promise<Manifest | undefined> {
  const [generations, first] = await Promise.all([generationsOf(store, partition), findInGeneration(store, partition, 1, seq)]);
  const found: Manifest[] = [];
  for (const generation of generations.toReversed()) {
    const manifest = generation === 1 ? first : await findInGeneration(store, partition, generation, seq);
    if (manifest === undefined) continue;
    if (manifest.fromSeq <= seq) return manifest;
    found.push(manifest);
  }
  return found.toSorted((a, b) => a.fromSeq - b.fromSeq || b.generation - a.generation)[0];
}

/** Last segment of the newest generation, which the next one continues. */
export async function lastSegment(store: ArchiveStore, partition: string): Promise<Manifest | undefined> {
  for (const generation of (await generationsOf(store, partition)).toReversed()) {
    const name = await lastSegmentName(store, partition, generation);
    if (name !== undefined) return readManifest(store, name);
  }
  return undefined;
}

/** Verified events of a segment. @throws ArchiveCorrupt, also for a missing file */
export async function loadSegment(store: ArchiveStore, manifest: Manifest): Promise<{ events: SealedEvent[]; lines: Buffer[] }> {
  return readLines(await read(store, manifest.file.name), manifest);
}

/**
 * Lines of a segment, checked only by the digest of its file: the events were verified on sealing.
 *
 * @throws ArchiveCorrupt, also for a missing file
 */
export async function loadLines(store: ArchiveStore, manifest: Manifest): Promise<Buffer[]> {
  return splitLines(readText(await read(store, manifest.file.name), manifest)).slice(0, -1);
}

export async function readManifest(store: ArchiveStore, name: string): Promise<Manifest> {
  return parseManifest(name, await read(store, name));
}

/** Segment of one generation with `seq`, or the first after it. */
export async function findInGeneration(
  store: ArchiveStore,
  partition: string,
  generation: number,
  seq: number,
): Promise<Manifest | undefined> {
  const name = await nextSegmentName(store, partition, generation, seq);
  return name === undefined ? undefined : readManifest(store, name);
}

function textOf(file: Buffer, name: string): Buffer {
  try {
    return decompress(name, file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ArchiveConflict(name, `holds other events than those to be sealed (${reason})`);
  }
}

/** Manifest for a file of another compressor. @throws ArchiveConflict for a file of other events */
function describe(file: Buffer, { fileName: name, manifest, text }: SealedSegment): Manifest {
  if (!textOf(file, name).equals(text)) throw new ArchiveConflict(name, 'holds other events than those to be sealed');
  return { ...manifest, file: { name, bytes: file.length, sha256: sha256(file).toString('hex') } };
}

async function read(store: ArchiveStore, name: string): Promise<Buffer> {
  const bytes = await store.get(name);
  if (bytes === undefined) throw new ArchiveCorrupt(name, 'is missing');
  return bytes;
}
