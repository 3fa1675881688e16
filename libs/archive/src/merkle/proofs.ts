import { countBits } from './compact-tree.js';
import { HASH_BYTES, nodeHash } from './hashes.js';

/** Merkle tree hash over the leaves `from` to `to`, the last not included (RFC 6962, 2.1). */
export type SubtreeRoot = (from: number, to: number) => Promise<Buffer>;

/** Audit path of a leaf (RFC 6962, 2.1.1), from the leaf's sibling up. */
export async function inclusionProof(index: number, size: number, root: SubtreeRoot): Promise<Buffer[]> {
  if (index < 0 || index >= size) throw new RangeError(`A tree of ${size} leaves has no leaf ${index}.`);
  return path(index, 0, size, root);
}

async function path(index: number, from: number, to: number, root: SubtreeRoot): Promise<Buffer[]> {
  if (to - from === 1) return [];
  const middle = from + splitPoint(to - from);
  if (index < middle) return [...(await path(index, from, middle, root)), await root(middle, to)];
  return [...(await path(index, middle, to, root)), await root(from, middle)];
}

/** Proof that the tree of `size` begins with the tree of `before` leaves (RFC 6962, 2.1.2). */
export async function consistencyProof(before: number, size: number, root: SubtreeRoot): Promise<Buffer[]> {
  if (before < 1 || before > size) throw new RangeError(`A tree of ${size} leaves does not begin with one of ${before}.`);
  return before === size ? [] : subproof(before, 0, size, true, root);
}

async function subproof(before: number, from: number, to: number, complete: boolean, root: SubtreeRoot): Promise<Buffer[]> {
  if (before === to) return complete ? [] : [await root(from, to)];
  const middle = from + splitPoint(to - from);
  if (before <= middle) return [...(await subproof(before, from, middle, complete, root)), await root(middle, to)];
  return [...(await subproof(before, middle, to, false, root)), await root(from, middle)];
}

/** Largest power of two below `size`. */
export function splitPoint(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** Verifies an inclusion proof (RFC 9162, 2.1.3.2). */
export function verifyInclusion(proof: { index: number; size: number; root: Buffer; leaf: Buffer; path: readonly Buffer[] }): boolean {
  const { index, size } = proof;
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  if ([proof.leaf, ...proof.path].some(({ length }) => length !== HASH_BYTES)) return false;
  let [place, last] = [BigInt(index), BigInt(size - 1)];
  let hash = proof.leaf;
  for (const sibling of proof.path) {
    if (last === 0n) return false;
    if (odd(place) || place === last) {
      hash = nodeHash(sibling, hash);
      for (; !odd(place) && place !== 0n; place >>= 1n) last >>= 1n;
    } else hash = nodeHash(hash, sibling);
    place >>= 1n;
    last >>= 1n;
  }
  return last === 0n && hash.equals(proof.root);
}

/** Verifies a consistency proof (RFC 9162, 2.1.4.2). False for the empty tree, about which nothing can be proven. */
export function verifyConsistency(proof: {
  before: number;
  size: number;
  rootBefore: Buffer;
  root: Buffer;
  path: readonly Buffer[];
}): boolean {
  const { before, size, rootBefore, root } = proof;
  if (!Number.isSafeInteger(before) || !Number.isSafeInteger(size) || before < 1 || before > size) return false;
  if (before === size) return proof.path.length === 0 && rootBefore.equals(root);
  const full = countBits(before) === 1;
  const [seed, ...rest] = full ? [rootBefore, ...proof.path] : proof.path;
  if (seed === undefined) return false;
  if ([rootBefore, root, ...proof.path].some(({ length }) => length !== HASH_BYTES)) return false;
  let [place, last] = [BigInt(before - 1), BigInt(size - 1)];
  for (; odd(place); place >>= 1n) last >>= 1n;
  let [hashBefore, hash] = [seed, seed];
  for (const sibling of rest) {
    if (last === 0n) return false;
    if (odd(place) || place === last) {
      hashBefore = nodeHash(sibling, hashBefore);
      hash = nodeHash(sibling, hash);
      for (; !odd(place) && place !== 0n; place >>= 1n) last >>= 1n;
    } else hash = nodeHash(hash, sibling);
    place >>= 1n;
    last >>= 1n;
  }
  return last === 0n && hashBefore.equals(rootBefore) && hash.equals(root);
}

function odd(value: bigint): boolean {
  return (value & 1n) === 1n;
}
