import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openArchive } from '#archive';
import { CompactTree } from './compact-tree.js';
import { emptyRoot, leafHash, nodeHash } from './hashes.js';
import { consistencyProof, inclusionProof, splitPoint, verifyConsistency, verifyInclusion } from './proofs.js';
import { HashTiles, TileGatherer, tileName } from './tiles.js';

interface InclusionVector {
  file: string;
  leafIdx: number;
  treeSize: number;
  root: string;
  leafHash: string;
  proof: string[] | null;
  wantErr: boolean;
}
interface ConsistencyVector {
  file: string;
  size1: number;
  size2: number;
  root1: string;
  root2: string;
  proof: string[] | null;
  wantErr: boolean;
}
const VECTORS = JSON.parse(readFileSync(new URL('testdata/merkle-proofs.json', import.meta.url), 'utf8')) as {
  inclusion: InclusionVector[];
  consistency: ConsistencyVector[];
};

const bytes = (text: string | null) => Buffer.from(text ?? '', 'base64');

describe('proofs agree with the vectors of transparency-dev/merkle', () => {
  it.each(VECTORS.inclusion)(
    'verifies proofs of inclusion as the vector $file does',
    ({ leafIdx, treeSize, root, leafHash: leaf, proof, wantErr }) => {
      expect(
        verifyInclusion({ index: leafIdx, size: treeSize, root: bytes(root), leaf: bytes(leaf), path: (proof ?? []).map(bytes) }),
      ).toBe(!wantErr);
    },
  );

  it.each(VECTORS.consistency)(
    'verifies proofs of consistency as the vector $file does',
    ({ size1, size2, root1, root2, proof, wantErr }) => {
      expect(
        verifyConsistency({ before: size1, size: size2, rootBefore: bytes(root1), root: bytes(root2), path: (proof ?? []).map(bytes) }),
      ).toBe(!wantErr);
    },
  );
});

/** Merkle tree hash by the definition of RFC 6962, 2.1. */
function definedRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return emptyRoot();
  const [only] = leaves;
  if (leaves.length === 1 && only !== undefined) return only;
  const middle = splitPoint(leaves.length);
  return nodeHash(definedRoot(leaves.slice(0, middle)), definedRoot(leaves.slice(middle)));
}

const leavesOf = (count: number) => Array.from({ length: count }, (_, index) => leafHash(Buffer.from(`leaf ${index}`)));

describe('a tree', () => {
  it('computes the roots of the tree of certificate-transparency-go', () => {
    // google/certificate-transparency, cpp/merkletree/merkle_tree_test.cc: the inputs and the root of 8 leaves.
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
    const tree = CompactTree.empty();
    expect(tree.root().toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    for (const input of inputs) tree.append(leafHash(Buffer.from(input, 'hex')));
    expect(tree.root().toString('hex')).toBe('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328');
  });

  it('grows a tree to the root that is defined for its leaves, also from a stored edge', () => {
    const leaves = leavesOf(130);
    let tree = CompactTree.empty();
    for (const [index, leaf] of leaves.entries()) {
      tree.append(leaf);
      expect(tree.root()).toEqual(definedRoot(leaves.slice(0, index + 1)));
      tree = CompactTree.of(tree.size, tree.rightEdge());
    }
  });

  it('proves inclusion and consistency for all places of small trees, and no false place', async () => {
    const leaves = leavesOf(20);
    const root = async (from: number, to: number) => definedRoot(leaves.slice(from, to));
    for (let size = 1; size <= leaves.length; size++) {
      for (let index = 0; index < size; index++) {
        const path = await inclusionProof(index, size, root);
        const proof = { index, size, root: definedRoot(leaves.slice(0, size)), leaf: leaves[index]!, path };
        expect(verifyInclusion(proof)).toBe(true);
        expect(verifyInclusion({ ...proof, leaf: leafHash(Buffer.from('other')) })).toBe(false);
        if (index === 0) continue;
        const before = {
          before: index,
          size,
          rootBefore: definedRoot(leaves.slice(0, index)),
          root: proof.root,
          path: await consistencyProof(index, size, root),
        };
        expect(verifyConsistency(before)).toBe(true);
        expect(verifyConsistency({ ...before, rootBefore: leafHash(Buffer.from('other')) })).toBe(false);
      }
    }
  });
});

describe('tiles', () => {
  it.each([
    [0, 0, 'x/tile/0/000'],
    [2, 67, 'x/tile/2/067'],
    [0, 1_000, 'x/tile/0/x001/000'],
    [0, 1_234_067, 'x/tile/0/x001/x234/067'],
  ])('names the tile of level %i, index %i: %s', (level, index, name) => expect(tileName('x/', level, index)).toBe(name));

  it('proves the same by tiles as by leaves, for trees of more than two levels', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tiles-'));
    const store = await openArchive(`file:${folder}`);
    const leaves = leavesOf(66_100);
    let asked = 0;
    const tiles = new HashTiles(store, 'log/', async (from, to) => {
      asked += to - from;
      return leaves.slice(from, to);
    });
    const gatherer = new TileGatherer();
    const gathered = leaves.flatMap((leaf) => gatherer.append(leaf));
    let before = 0;
    for (const size of [100, 256, 1_000, 65_535, 65_536, 66_100]) {
      await tiles.extend(before, size);
      before = size;
      asked = 0;
      const root = definedRoot(leaves.slice(0, size));
      expect((await tiles.compactTree(size)).root()).toEqual(root);
      const index = Math.floor(size / 3);
      const path = await inclusionProof(index, size, tiles.rootsAt(size));
      expect(verifyInclusion({ index, size, root, leaf: leaves[index]!, path })).toBe(true);
      expect(asked).toBeLessThan(2 * 256);
    }
    const stored = await store.list('log/');
    expect(new Set(stored)).toEqual(new Set(gathered.map(({ level, index }) => tileName('log/', level, index))));
    for (const { level, index, bytes: expected } of gathered.slice(-3))
      expect(await store.get(tileName('log/', level, index))).toEqual(expected);
    await rm(folder, { recursive: true });
  });
});
