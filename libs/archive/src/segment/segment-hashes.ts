import { CompactTree } from '../merkle/compact-tree.js';
import { leafHash, sha256 } from '../merkle/hashes.js';

/** Chain before the first event of a partition. */
export const FIRST_CHAIN = '0'.repeat(64);

/**
 * Chain after the lines of a segment, and Merkle root over them.
 *
 * @param tree gets a leaf for each line
 */
export function foldLines(lines: readonly Buffer[], prevChain: string, tree?: CompactTree): { chain: string; merkleRoot: string } {
  return foldLeaves(lines.map(leafHash), prevChain, tree);
}

/** Chain and Merkle root, computed from the leaf hashes of the lines. */
export function foldLeaves(leaves: readonly Buffer[], prevChain: string, tree?: CompactTree): { chain: string; merkleRoot: string } {
  let chain: Buffer = Buffer.from(prevChain, 'hex');
  const own = CompactTree.empty();
  for (const leaf of leaves) {
    chain = sha256(chain, leaf);
    own.append(leaf);
    tree?.append(leaf);
  }
  return { chain: chain.toString('hex'), merkleRoot: own.root().toString('hex') };
}
