import { LRUCache } from 'lru-cache';
import { ArchiveCorrupt } from '../archive-errors.js';
import { CompactTree } from './compact-tree.js';
import { HASH_BYTES, nodeHash } from './hashes.js';
import { splitPoint, type SubtreeRoot } from './proofs.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

export const TILE_WIDTH = 256;
const TILE_HEIGHT = 8;
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES;
const CACHED_TILES = 256;

/** Hashes of the leaves `from` to `to`, the last not included. */
export type LeafHashes = (from: number, to: number) => Promise<readonly Buffer[]>;

/** Name of a full tile below a log's prefix (c2sp.org/tlog-tiles): `tile/0/x001/x234/067`. */
export function tileName(prefix: string, level: number, index: number): string {
  const parts: string[] = [];
  for (let rest = index; parts.length === 0 || rest > 0; rest = Math.floor(rest / 1000))
    parts.unshift(String(rest % 1000).padStart(3, '0'));
  return `${prefix}tile/${level}/${parts.map((part, place) => (place < parts.length - 1 ? `x${part}` : part)).join('/')}`;
}

/** Number of leaves under a full tile of a level. */
export function tileSpan(level: number): number {
  return TILE_WIDTH ** (level + 1);
}

/**
 * Hashes of a growing Merkle tree, stored as full tiles. The leaves right of the last full tile, at most 255, are read from the
 * records themselves, so no partial tiles are stored.
 */
export class HashTiles {
  private readonly tiles = new LRUCache<string, Buffer>({ max: CACHED_TILES });

  constructor(
    private readonly store: ArchiveStore,
    private readonly prefix: string,
    private readonly leaves: LeafHashes,
  ) {}

  /** Writes the tiles that became full between `before` and `size`. Safe to repeat. */
  async extend(before: number, size: number): Promise<void> {
    for (let level = 0; tileSpan(level) <= size; level++) {
      const end = Math.floor(size / tileSpan(level));
      for (let index = Math.floor(before / tileSpan(level)); index < end; index++) await this.write(level, index);
    }
  }

  /** Roots of subtrees of a tree of `size` leaves, whose full tiles were written. */
  rootsAt(size: number): SubtreeRoot {
    const root = async (from: number, to: number): Promise<Buffer> => {
      if (to - from > 1 && this.inTile(from, to, size)) return this.tileRoot(from, to);
      if (to - from === 1) return this.leaf(from, size);
      const middle = from + splitPoint(to - from);
      return nodeHash(await root(from, middle), await root(middle, to));
    };
    return root;
  }

  /** Tree of `size` leaves, ready to append to. */
  async compactTree(size: number): Promise<CompactTree> {
    const root = this.rootsAt(size);
    const edge: Buffer[] = [];
    for (let from = 0; from < size;) {
      const width = powerOfTwoUpTo(size - from);
      edge.push(await root(from, from + width));
      from += width;
    }
    return CompactTree.of(size, edge);
  }

  private async write(level: number, index: number): Promise<void> {
    const name = tileName(this.prefix, level, index);
    const hashes =
      level === 0
        ? await this.leaves(index * TILE_WIDTH, (index + 1) * TILE_WIDTH)
        : await this.rootsOfTiles(level - 1, index * TILE_WIDTH);
    const bytes = Buffer.concat([...hashes]);
    if (bytes.length !== TILE_BYTES) throw new ArchiveCorrupt(name, `has ${hashes.length} hashes, expected ${TILE_WIDTH}`);
    if ((await this.store.put(name, bytes)) === 'created') return;
    if (!(await this.tile(level, index)).equals(bytes)) throw new ArchiveCorrupt(name, 'holds other hashes than those of the events');
  }

  private async rootsOfTiles(level: number, first: number): Promise<Buffer[]> {
    const roots: Buffer[] = [];
    for (let index = first; index < first + TILE_WIDTH; index++) roots.push(rootOfHashes(splitHashes(await this.tile(level, index))));
    return roots;
  }

  /** True for a full, aligned subtree within one tile that is full at `size`. */
  private inTile(from: number, to: number, size: number): boolean {
    const width = to - from;
    if (powerOfTwoUpTo(width) !== width || from % width !== 0) return false;
    const span = tileSpan(levelOf(width));
    return (Math.floor(from / span) + 1) * span <= size;
  }

  private async tileRoot(from: number, to: number): Promise<Buffer> {
    const level = levelOf(to - from);
    const unit = TILE_WIDTH ** level;
    const index = Math.floor(from / tileSpan(level));
    const first = from / unit - index * TILE_WIDTH;
    return rootOfHashes(splitHashes(await this.tile(level, index)).slice(first, first + (to - from) / unit));
  }

  private async leaf(index: number, size: number): Promise<Buffer> {
    if ((Math.floor(index / TILE_WIDTH) + 1) * TILE_WIDTH <= size) return this.tileRoot(index, index + 1);
    const [hash] = await this.leaves(index, index + 1);
    if (hash === undefined) throw new RangeError(`Leaf ${index} is missing.`);
    return hash;
  }

  private async tile(level: number, index: number): Promise<Buffer> {
    const name = tileName(this.prefix, level, index);
    const cachedTile = this.tiles.get(name);
    if (cachedTile !== undefined) return cachedTile;
    const bytes = await this.store.get(name);
    if (bytes?.length !== TILE_BYTES)
      throw new ArchiveCorrupt(name, bytes === undefined ? 'is missing' : `has ${bytes.length} bytes, expected ${TILE_BYTES}`);
    this.tiles.set(name, bytes);
    return bytes;
  }
}

/** Gathers leaves and returns each full tile, from level 0 up. */
export class TileGatherer {
  private readonly levels: Buffer[][] = [];
  private readonly counts: number[] = [];

  /** Appends a leaf and returns the tiles that it fills. */
  append(leaf: Buffer): { level: number; index: number; bytes: Buffer }[] {
    const full: { level: number; index: number; bytes: Buffer }[] = [];
    let hash = leaf;
    for (let level = 0; ; level++) {
      const hashes = (this.levels[level] ??= []);
      if (hashes.push(hash) < TILE_WIDTH) return full;
      const index = this.counts[level] ?? 0;
      this.counts[level] = index + 1;
      full.push({ level, index, bytes: Buffer.concat(hashes) });
      hash = rootOfHashes(hashes);
      this.levels[level] = [];
    }
  }
}

export function splitHashes(tile: Buffer): Buffer[] {
  return Array.from({ length: tile.length / HASH_BYTES }, (_, index) => tile.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES));
}

function rootOfHashes(hashes: readonly Buffer[]): Buffer {
  const tree = CompactTree.empty();
  for (const hash of hashes) tree.append(hash);
  return tree.root();
}

/** Level of the hash of a subtree: one of 256 leaves is a hash of level 1. */
function levelOf(width: number): number {
  return Math.floor(Math.log2(width) / TILE_HEIGHT);
}

function powerOfTwoUpTo(value: number): number {
  let power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}
