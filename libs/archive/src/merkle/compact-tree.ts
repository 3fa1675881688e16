import { emptyRoot, nodeHash } from './hashes.js';

/**
 * Merkle tree (RFC 6962) reduced to its right edge: the roots of the full subtrees whose sizes are the set bits of its size,
 * largest first. Sufficient to append leaves and to compute the root.
 */
export class CompactTree {
  private readonly edge: Buffer[];

  private constructor(
    private leaves: number,
    edge: readonly Buffer[],
  ) {
    this.edge = [...edge];
  }

  static empty(): CompactTree {
    return new CompactTree(0, []);
  }

  /** @throws RangeError if the edge has another length than that of a tree of this size */
  static of(size: number, edge: readonly Buffer[]): CompactTree {
    if (countBits(size) !== edge.length)
      throw new RangeError(`A tree of ${size} leaves has ${countBits(size)} full subtrees, got ${edge.length}.`);
    return new CompactTree(size, edge);
  }

  get size(): number {
    return this.leaves;
  }

  append(leaf: Buffer): void {
    let node = leaf;
    for (let rest = this.leaves; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      const left = this.edge.pop();
      if (left !== undefined) node = nodeHash(left, node);
    }
    this.edge.push(node);
    this.leaves += 1;
  }

  root(): Buffer {
    return (
      this.edge.reduceRight<Buffer | undefined>((right, left) => (right === undefined ? left : nodeHash(left, right)), undefined) ??
      emptyRoot()
    );
  }

  rightEdge(): readonly Buffer[] {
    return [...this.edge];
  }
}

export function countBits(value: number): number {
  let bits = 0;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return bits;
}
