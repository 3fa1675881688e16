import { CompactTree } from '../merkle/compact-tree.js';
import { leafHash, sha256 } from '../merkle/hashes.js';

/** Before the first event of a partition. */
export const FIRST_CHAIN = '0'.repeat(64);

/**
 * What the lines of a segment add up to: the chain after them and the Merkle root over them.
 *
 * @param tree gets a leaf for each line
 */
export function foldLines(lines: readonly Buffer[], prevChain: string, tree?: CompactTree): { chain: string; merkleRoot: string } {
  return foldLeaves(lines.map(leafHash), prevChain, tree);
}

/** The same, of the leaf hashes of the lines. */
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
