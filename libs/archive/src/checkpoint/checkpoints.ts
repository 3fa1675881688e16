import { ArchiveCorrupt } from '../archive-errors.js';
import { lastName } from '../segment/segment-listing.js';
import {
  CHECKPOINT_PREFIX,
  checkpointName,
  checkpointNumber,
  LOG_PREFIX,
  parseCheckpoint,
  recordHash,
  type Checkpoint,
} from './checkpoint.js';
import { InvalidNote, openNote, splitNote, type NoteVerifier } from './signed-note.js';
import type { LeafHashes } from '../merkle/tiles.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/** Prefix of the tiles of the tree of checkpoints. */
export const CHECKPOINT_TREE_PREFIX = LOG_PREFIX;

export interface SignedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly note: string;
}

/** Number of the last checkpoint; 0 for none. */
export async function lastCheckpointNumber(store: ArchiveStore): Promise<number> {
  const next = async (from: number): Promise<string | undefined> => {
    const [name] = await store.list(CHECKPOINT_PREFIX, { after: checkpointName(Math.max(0, from - 1)), limit: 1 });
    return name;
  };
  const last = await lastName(next, (name) => checkpointNumber(name) ?? 0);
  return last === undefined ? 0 : (checkpointNumber(last) ?? 0);
}

/**
 * Reads a checkpoint signed by one of the keys; with `keys` undefined, by any signer.
 *
 * @throws ArchiveCorrupt if the checkpoint is missing, changed, signed by others or has another number
 */
export async function readCheckpoint(store: ArchiveStore, number: number, keys?: readonly NoteVerifier[]): Promise<SignedCheckpoint> {
  const name = checkpointName(number);
  const bytes = await store.get(name);
  if (bytes === undefined) throw new ArchiveCorrupt(name, 'is missing');
  try {
    const note = bytes.toString();
    const checkpoint = openCheckpoint(note, keys);
    if (checkpoint.number !== number) throw new InvalidNote(`is checkpoint ${checkpoint.number}`);
    return { checkpoint, note };
  } catch (error) {
    if (error instanceof InvalidNote) throw new ArchiveCorrupt(name, error.message, undefined, { cause: error });
    throw error;
  }
}

/** @throws InvalidNote */
export function openCheckpoint(note: string, keys?: readonly NoteVerifier[]): Checkpoint {
  const checkpoint = parseCheckpoint(keys === undefined ? splitNote(note).text : openNote(note, keys));
  if (keys !== undefined && !keys.some(({ name }) => name === checkpoint.origin))
    throw new InvalidNote(`is of the archive ${checkpoint.origin}`);
  return checkpoint;
}

/** Leaves of the tree of checkpoints. */
export function checkpointLeaves(store: ArchiveStore): LeafHashes {
  return async (from, to) => {
    const leaves: Buffer[] = [];
    for (let number = from + 1; number <= to; number++) leaves.push(recordHash((await readCheckpoint(store, number)).checkpoint));
    return leaves;
  };
}
