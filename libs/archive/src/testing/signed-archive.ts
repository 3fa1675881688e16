import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpointer } from '../checkpoint/checkpointer.js';
import { generateSigningKey, parsePublicKey, parseSigningKey, type NoteSigner, type NoteVerifier } from '../checkpoint/signed-note.js';
import { sealSegment } from '../segment/segment.js';
import { storeSegment } from '../segment/segments.js';
import { openArchive } from '../store/open-archive.js';
import { fillPartition, sampleEvents } from './archive-events.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

export interface SignedArchive {
  readonly folder: string;
  readonly store: ArchiveStore;
  /** Store with copies of the checkpoints. */
  readonly published: ArchiveStore;
  close(): Promise<void>;
  readonly signer: NoteSigner;
  readonly keys: readonly NoteVerifier[];
  readonly checkpointer: Checkpointer;
}

/**
 * Three partitions, one of them with a second generation, and four checkpoints: 14 segments of 2 × `scale` to 7 × `scale` events.
 * `note` is in every event. The caller closes it.
 */
export async function makeSignedArchive({ scale = 15, note = '' }: { scale?: number; note?: string } = {}): Promise<SignedArchive> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'));
  const publishedFolder = await mkdtemp(join(tmpdir(), 'published-'));
  const published = await openArchive(`file:${publishedFolder}`);
  const store = await openArchive(`file:${folder}`);
  const signer = parseSigningKey(generateSigningKey('example.org/archive'));
  const checkpointer = new Checkpointer({ store, signer, publishTo: published, partitions: ['00', '01', '02'] });
  let first = await fillPartition(store, { partition: '00', toSeq: 18 * scale, size: 6 * scale, note });
  await checkpointer.sign(1_000_000);
  first = await fillPartition(store, { partition: '00', toSeq: 36 * scale, size: 6 * scale, note, ...(first && { previous: first }) });
  const last = await fillPartition(store, { partition: '02', toSeq: 4 * scale, size: 2 * scale, note });
  await checkpointer.sign(2_000_000);
  const second = sealSegment({
    partition: '02',
    generation: 2,
    epoch: 2,
    previous: last,
    events: sampleEvents('02', 3 * scale + 1, 6 * scale, { epoch: 2, note }),
  });
  await storeSegment(store, second);
  await checkpointer.sign(3_000_000);
  await fillPartition(store, { partition: '01', toSeq: 20 * scale, size: 7 * scale, note });
  await fillPartition(store, { partition: '00', toSeq: 48 * scale, size: 6 * scale, note, ...(first && { previous: first }) });
  await checkpointer.sign(4_000_000);
  const close = async () => {
    for (const path of [folder, publishedFolder]) await rm(path, { recursive: true });
  };
  return { folder, store, published, close, signer, keys: [parsePublicKey(signer.publicKey)], checkpointer };
}
