import { ArchiveCorrupt } from '../archive-errors.js';
import { CompactTree } from '../merkle/compact-tree.js';
import { HashTiles } from '../merkle/tiles.js';
import { generationsOf, nextSegmentName } from '../segment/segment-listing.js';
import { readManifest } from '../segment/segments.js';
import { checkpointName, checkpointText, keyName, recordHash, treePrefix, type Checkpoint, type TreeHead } from './checkpoint.js';
import { checkpointLeaves, CHECKPOINT_TREE_PREFIX, lastCheckpointNumber, readCheckpoint } from './checkpoints.js';
import { eventLeaves } from './event-leaves.js';
import { parsePublicKey, type NoteSigner } from './signed-note.js';
import { treeOf, type Manifest } from '../segment/manifest.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

export interface CheckpointerOptions {
  readonly store: ArchiveStore;
  readonly signer: NoteSigner;
  /** Second store for every checkpoint, to which the operator of Redis and of the archive has no write access. */
  readonly publishTo?: ArchiveStore | undefined;
  /** Digits alone, such as `07`. */
  readonly partitions: readonly string[];
}

/**
 * Signs sealed segments. Several may run: the first takes the number of a checkpoint, the others continue after it.
 *
 * 1. Read the last checkpoint and verify its signature. 2. Read the segments of each partition sealed since, and compute the
 * trees from their lines. 3. Write the tiles that became full. 4. Sign the heads with the number that follows, and write the
 * checkpoint. 5. Copy missing checkpoints to the second store.
 */
export class Checkpointer {
  private tree: CompactTree | undefined;

  constructor(private readonly options: CheckpointerOptions) {}

  /**
   * Undefined if nothing was sealed since the last checkpoint, or if another process signed at the same time.
   *
   * @throws ArchiveCorrupt if the archive does not continue the last checkpoint; then nothing is signed
   */
  async sign(now: number = Date.now()): Promise<Checkpoint | undefined> {
    const { store, signer } = this.options;
    const last = await this.lastCheckpoint();
    const heads = await this.heads(last?.heads ?? []);
    const checkpoint = sameHeads(heads, last?.heads ?? []) ? undefined : await this.next(last, heads, now);
    const note = checkpoint && signer.sign(checkpointText(checkpoint));
    const created = note !== undefined && (await store.put(checkpointName(checkpoint?.number ?? 0), Buffer.from(note))) === 'created';
    if (!created) this.tree = undefined;
    await this.publish();
    return created ? checkpoint : undefined;
  }

  private async lastCheckpoint(): Promise<Checkpoint | undefined> {
    const { store, signer, publishTo } = this.options;
    const number = await lastCheckpointNumber(store);
    const published = publishTo === undefined ? 0 : await lastCheckpointNumber(publishTo);
    if (published > number)
      throw new ArchiveCorrupt(checkpointName(published), `was published to ${publishTo?.label}, but is missing in ${store.label}`);
    if (number > 0) return (await readCheckpoint(store, number, [parsePublicKey(signer.publicKey)])).checkpoint;
    await store.put(keyName(parsePublicKey(signer.publicKey).id), Buffer.from(`${signer.publicKey}\n`));
    return undefined;
  }

  private async heads(before: readonly TreeHead[]): Promise<TreeHead[]> {
    const { store, partitions } = this.options;
    const heads: TreeHead[] = [];
    for (const partition of partitions.toSorted()) {
      const signed = before.filter((head) => head.partition === partition);
      const generations = new Set([...signed.map(({ generation }) => generation), ...(await generationsOf(store, partition))]);
      for (const generation of [...generations].toSorted((a, b) => a - b)) {
        const head = await this.head(
          partition,
          generation,
          signed.find((known) => known.generation === generation),
        );
        if (head !== undefined) heads.push(head);
      }
    }
    return heads;
  }

  /** Tree of a generation, extended from `signed` by the lines of the segments sealed since. */
  private async head(partition: string, generation: number, signed: TreeHead | undefined): Promise<TreeHead | undefined> {
    const { store } = this.options;
    const previous = signed && (await this.manifestAt(partition, generation, signed));
    let manifest = await this.manifestAfter(partition, generation, previous);
    if (manifest === undefined) return signed;
    const { firstSeq } = manifest.tree;
    const leaves = eventLeaves(store, partition, generation, firstSeq);
    const tree = previous === undefined ? CompactTree.empty() : treeOf(previous);
    for (
      let before = previous;
      manifest !== undefined;
      before = manifest, manifest = await this.manifestAfter(partition, generation, before)
    ) {
      checkContinues(manifest, before);
      for (const leaf of await leaves(tree.size, manifest.tree.size)) tree.append(leaf);
      checkTree(manifest, tree);
    }
    await new HashTiles(store, treePrefix(partition, generation), leaves).extend(signed?.size ?? 0, tree.size);
    return { partition, generation, size: tree.size, root: tree.root() };
  }

  /** Manifest of the segment with which a signed tree ended. */
  private async manifestAt(partition: string, generation: number, signed: TreeHead): Promise<Manifest> {
    const { store } = this.options;
    const first = await nextSegmentName(store, partition, generation, 0);
    const firstSeq = first === undefined ? 1 : (await readManifest(store, first)).tree.firstSeq;
    const name = await nextSegmentName(store, partition, generation, firstSeq + signed.size - 1);
    const manifest = name === undefined ? undefined : await readManifest(store, name);
    if (manifest?.tree.size !== signed.size || manifest.tree.root !== signed.root.toString('hex'))
      throw new ArchiveCorrupt(
        name ?? treePrefix(partition, generation),
        `is not the tree of ${signed.size} events that the last checkpoint signed`,
      );
    return manifest;
  }

  private async manifestAfter(partition: string, generation: number, previous: Manifest | undefined): Promise<Manifest | undefined> {
    const name = await nextSegmentName(this.options.store, partition, generation, (previous?.toSeq ?? 0) + 1);
    return name === undefined ? undefined : readManifest(this.options.store, name);
  }

  private async next(last: Checkpoint | undefined, heads: readonly TreeHead[], now: number): Promise<Checkpoint> {
    const { store, signer } = this.options;
    const tiles = new HashTiles(store, CHECKPOINT_TREE_PREFIX, checkpointLeaves(store));
    const before = last?.number ?? 0;
    if (this.tree?.size !== before) {
      // Writes tiles of the tree of checkpoints before the next checkpoint, when their leaves are stored.
      await tiles.extend(Math.max(0, before - 1), before);
      this.tree = await tiles.compactTree(before);
    } else await tiles.extend(Math.max(0, before - 1), before);
    if (last !== undefined && !this.tree.root().equals(last.root))
      throw new ArchiveCorrupt(checkpointName(before), 'its root does not follow from the checkpoints before');
    this.tree.append(recordHash({ time: now, heads }));
    return { origin: signer.name, number: before + 1, root: this.tree.root(), time: now, heads };
  }

  private async publish(): Promise<void> {
    const { store, publishTo, signer } = this.options;
    if (publishTo === undefined) return;
    await publishTo.put(keyName(parsePublicKey(signer.publicKey).id), Buffer.from(`${signer.publicKey}\n`));
    const last = await lastCheckpointNumber(store);
    for (let number = (await lastCheckpointNumber(publishTo)) + 1; number <= last; number++) {
      const { note } = await readCheckpoint(store, number, [parsePublicKey(signer.publicKey)]);
      await publishTo.put(checkpointName(number), Buffer.from(note));
    }
  }
}

function checkContinues(manifest: Manifest, previous: Manifest | undefined): void {
  const [seq, chain] = previous === undefined ? [manifest.tree.firstSeq, manifest.prevChain] : [previous.toSeq + 1, previous.chain];
  if (manifest.fromSeq !== seq || manifest.prevChain !== chain)
    throw new ArchiveCorrupt(manifest.file.name, `does not follow event ${seq - 1}`);
}

function checkTree(manifest: Manifest, tree: CompactTree): void {
  if (tree.root().toString('hex') !== manifest.tree.root)
    throw new ArchiveCorrupt(manifest.file.name, 'its lines do not give the tree that its manifest has');
}

function sameHeads(a: readonly TreeHead[], b: readonly TreeHead[]): boolean {
  return a.length === b.length && a.every((head, index) => head.size === b[index]?.size);
}
