import { ArchiveCorrupt } from '../archive-errors.js';
import { HASH_BYTES, leafHash } from '../merkle/hashes.js';
import { storeVerified } from '../store/store-verified.js';
import { leavesName } from './names.js';
import { readLines } from './segment.js';
import { foldLeaves } from './segment-hashes.js';
import type { Manifest } from './manifest.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/** Stores the leaf hashes of a segment, which suffice, with its manifest, for the chain and the trees. Safe to repeat. */
export async function storeLeaves(store: ArchiveStore, manifest: Manifest): Promise<void> {
  await storeVerified(store, leavesName(manifest), Buffer.concat([...(await leavesOf(store, manifest))]));
}

/**
 * Verified leaf hashes of a dropped segment.
 *
 * @throws ArchiveCorrupt if they are missing, or those of another segment
 */
export async function storedLeaves(store: ArchiveStore, manifest: Manifest): Promise<readonly Buffer[]> {
  const name = leavesName(manifest);
  const bytes = await store.get(name);
  if (bytes === undefined) throw new ArchiveCorrupt(name, 'is missing');
  if (bytes.length !== manifest.count * HASH_BYTES)
    throw new ArchiveCorrupt(name, `has ${bytes.length} bytes, expected ${HASH_BYTES} for each of ${manifest.count} events`);
  const leaves = Array.from({ length: manifest.count }, (_, index) => bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES));
  const { chain, merkleRoot } = foldLeaves(leaves, manifest.prevChain);
  if (chain !== manifest.chain || merkleRoot !== manifest.merkleRoot)
    throw new ArchiveCorrupt(name, 'has other hashes than those of the segment');
  return leaves;
}

/** Leaf hashes of a segment, dropped or not. @throws ArchiveCorrupt */
export async function leavesOf(store: ArchiveStore, manifest: Manifest): Promise<readonly Buffer[]> {
  const file = await store.get(manifest.file.name);
  if (file !== undefined) return readLines(file, manifest).lines.map(leafHash);
  if ((await store.get(leavesName(manifest))) === undefined) throw new ArchiveCorrupt(manifest.file.name, 'is missing');
  return storedLeaves(store, manifest);
}
