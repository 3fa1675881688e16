import { ArchiveCorrupt } from '../archive-errors.js';
import { CompactTree } from '../merkle/compact-tree.js';
import { TileGatherer, tileName } from '../merkle/tiles.js';
import {
  CHECKPOINT_PREFIX,
  checkpointName,
  checkpointNumber,
  LOG_PREFIX,
  recordHash,
  treePrefix,
  type Checkpoint,
  type TreeHead,
} from '../checkpoint/checkpoint.js';
import { lastCheckpointNumber, readCheckpoint, type SignedCheckpoint } from '../checkpoint/checkpoints.js';
import { nextSegmentName } from '../segment/segment-listing.js';
import { readManifest } from '../segment/segments.js';
import { segmentName, segmentsPrefix } from '../segment/names.js';
import { listAll } from '../store/list-all.js';
import type { NoteVerifier } from '../checkpoint/signed-note.js';
import type { ArchiveStore } from '../store/archive-store.port.js';
import type { ReportFault } from './verify-report.js';

interface Options {
  readonly store: ArchiveStore;
  readonly keys: readonly NoteVerifier[];
  readonly published: ArchiveStore | undefined;
  readonly fault: ReportFault;
}

/**
 * Checks the checkpoints in order: numbers without a gap, signatures, consistency with the previous one, signed trees against
 * the segments, and equal published copies. Returns the last valid one.
 */
export async function verifyCheckpoints(options: Options): Promise<{ last: SignedCheckpoint | undefined; count: number }> {
  const { store, keys, published, fault } = options;
  const pass = new CheckpointPass(options);
  let last: SignedCheckpoint | undefined;
  let expected = 1;
  for await (const name of listAll(store, CHECKPOINT_PREFIX)) {
    const number = checkpointNumber(name);
    if (number === undefined) continue;
    for (; expected < number; expected++) pass.missing(expected);
    expected = number + 1;
    try {
      const found = await readCheckpoint(store, number, keys);
      await pass.next(found.checkpoint, last?.checkpoint);
      await pass.comparePublished(number, found.note);
      last = found;
    } catch (error) {
      if (!(error instanceof ArchiveCorrupt)) throw error;
      fault(error.file, error.fault);
      pass.restart();
    }
  }
  if (published !== undefined) {
    const end = await lastCheckpointNumber(published);
    for (; expected <= end; expected++) fault(checkpointName(expected), `is missing, but was published to ${published.label}`);
  }
  return { last, count: expected - 1 };
}

class CheckpointPass {
  /** Undefined after a fault: the rest is checked by the manifests alone. */
  private tree: CompactTree | undefined = CompactTree.empty();
  private tiles = new TileGatherer();
  private readonly firstSeqs = new Map<string, number | undefined>();

  constructor(private readonly options: Options) {}

  missing(number: number): void {
    this.options.fault(checkpointName(number), 'is missing');
    this.restart();
  }

  restart(): void {
    this.tree = undefined;
  }

  async next(checkpoint: Checkpoint, before: Checkpoint | undefined): Promise<void> {
    const name = checkpointName(checkpoint.number);
    await this.append(name, checkpoint);
    if (before !== undefined && checkpoint.time < before.time) this.options.fault(name, `was signed before checkpoint ${before.number}`);
    for (const head of before?.heads ?? []) {
      const now = checkpoint.heads.find((other) => sameTree(head, other));
      if (now === undefined || now.size < head.size)
        this.options.fault(name, `signs less of p${head.partition}/g${head.generation} than checkpoint ${before?.number ?? 0}`);
    }
    for (const head of checkpoint.heads) {
      if (before?.heads.some((other) => sameTree(head, other) && other.size === head.size && other.root.equals(head.root)) === true)
        continue;
      const text = await this.headFault(head);
      if (text !== undefined) this.options.fault(name, text);
    }
  }

  async comparePublished(number: number, note: string): Promise<void> {
    const { published, fault } = this.options;
    if (published === undefined) return;
    const copy = await published.get(checkpointName(number));
    if (copy !== undefined && copy.toString() !== note)
      fault(checkpointName(number), `differs from what was published to ${published.label}`);
  }

  private async append(name: string, checkpoint: Checkpoint): Promise<void> {
    if (this.tree === undefined) return;
    const leaf = recordHash(checkpoint);
    this.tree.append(leaf);
    if (!this.tree.root().equals(checkpoint.root)) throw new ArchiveCorrupt(name, 'its root does not follow from the checkpoints up to it');
    for (const { level, index, bytes } of this.tiles.append(leaf)) {
      const tile = tileName(LOG_PREFIX, level, index);
      const stored = await this.options.store.get(tile);
      // A tile is written with the next checkpoint.
      const isWritten = stored !== undefined || (await lastCheckpointNumber(this.options.store)) === checkpoint.number;
      if (!isWritten) this.options.fault(tile, 'is missing');
      else if (stored !== undefined && !stored.equals(bytes)) this.options.fault(tile, 'differs from what the checkpoints give');
    }
  }

  /** Compares a signed tree with the manifest of the segment at its end. */
  private async headFault({ partition, generation, size, root }: TreeHead): Promise<string | undefined> {
    const { store } = this.options;
    const firstSeq = await this.firstSeq(partition, generation);
    if (firstSeq === undefined) return `signs ${size} events of ${segmentsPrefix(partition, generation)}, which has no manifest`;
    const name = segmentName({ partition, generation, toSeq: firstSeq + size - 1 }, 'manifest');
    if ((await store.get(name)) === undefined) return `signs ${size} events of p${partition}/g${generation}, but ${name} is missing`;
    try {
      const { tree } = await readManifest(store, name);
      return tree.root === root.toString('hex') ? undefined : `signs another tree than ${name} has`;
    } catch (error) {
      if (error instanceof ArchiveCorrupt) return undefined;
      throw error;
    }
  }

  private async firstSeq(partition: string, generation: number): Promise<number | undefined> {
    const key = treePrefix(partition, generation);
    if (!this.firstSeqs.has(key)) this.firstSeqs.set(key, await readFirstSeq(this.options.store, partition, generation));
    return this.firstSeqs.get(key);
  }
}

/** `firstSeq` of the first readable manifest. */
async function readFirstSeq(store: ArchiveStore, partition: string, generation: number): Promise<number | undefined> {
  for (let seq = 0; ;) {
    const name = await nextSegmentName(store, partition, generation, seq);
    if (name === undefined) return undefined;
    try {
      return (await readManifest(store, name)).tree.firstSeq;
    } catch (error) {
      if (!(error instanceof ArchiveCorrupt)) throw error;
      seq = Number(name.slice(-21, -5)) + 1;
    }
  }
}

function sameTree(a: TreeHead, b: TreeHead): boolean {
  return a.partition === b.partition && a.generation === b.generation;
}
