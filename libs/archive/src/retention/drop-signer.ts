import { lastCheckpointNumber, readCheckpoint } from '../checkpoint/checkpoints.js';
import { parsePublicKey, type NoteSigner } from '../checkpoint/signed-note.js';
import { listAll } from '../store/list-all.js';
import { DROP_PREFIX, dropName, dropText, type DropRule } from './drop-statement.js';
import { readDrop } from './drops.js';
import type { Manifest } from '../segment/manifest.js';
import type { TreeHead } from '../checkpoint/checkpoint.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

export interface DropSignerOptions {
  readonly store: ArchiveStore;
  readonly signer: NoteSigner;
  /** Second store for every statement, written before any deletion. */
  readonly publishTo?: ArchiveStore | undefined;
}

/** Signs statements about dropped segments, without which a missing segment is a fault. */
export class DropSigner {
  constructor(private readonly options: DropSignerOptions) {}

  /** Trees of the last checkpoint; segments outside of it must not be dropped. */
  async signedHeads(): Promise<readonly TreeHead[]> {
    const { store, signer } = this.options;
    const number = await lastCheckpointNumber(store);
    return number === 0 ? [] : (await readCheckpoint(store, number, [parsePublicKey(signer.publicKey)])).checkpoint.heads;
  }

  /**
   * Signs that the segments from `fromSeq` to the end of `last` are dropped; called before the deletion. A repeat keeps the
   * first statement.
   *
   * @throws ArchiveCorrupt if the name has anything but a statement of this signer
   */
  async sign(fromSeq: number, last: Manifest, rules: readonly DropRule[], time: number): Promise<void> {
    const { store, signer } = this.options;
    const { partition, generation, toSeq, tree } = last;
    const statement = { origin: signer.name, partition, generation, fromSeq, toSeq, root: Buffer.from(tree.root, 'hex'), time, rules };
    await store.put(dropName(statement), Buffer.from(signer.sign(dropText(statement))));
    await readDrop(store, dropName(statement), [parsePublicKey(signer.publicKey)]);
  }

  /** Copies statements that the second store lacks. */
  async publish(): Promise<void> {
    const { store, publishTo } = this.options;
    if (publishTo === undefined) return;
    const publishedNames = new Set<string>();
    for await (const name of listAll(publishTo, DROP_PREFIX)) publishedNames.add(name);
    for await (const name of listAll(store, DROP_PREFIX)) {
      const note = publishedNames.has(name) ? undefined : await store.get(name);
      if (note !== undefined) await publishTo.put(name, note);
    }
  }
}
