import { ArchiveCorrupt } from '../archive-errors.js';
import { InvalidNote, type NoteVerifier } from '../checkpoint/signed-note.js';
import { generationsOf, lastName } from '../segment/segment-listing.js';
import { findInGeneration } from '../segment/segments.js';
import { DROP_PREFIX, dropName, dropsPrefix, openDrop, parseDropName, type DropStatement } from './drop-statement.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/**
 * Reads the statement of this name.
 *
 * @throws ArchiveCorrupt if it is missing, changed, signed by others or about other segments
 */
export async function readDrop(
  store: ArchiveStore,
  name: string,
  keys: readonly NoteVerifier[],
): Promise<{ statement: DropStatement; note: string }> {
  const note = (await store.get(name))?.toString();
  if (note === undefined) throw new ArchiveCorrupt(name, 'is missing');
  try {
    const statement = openDrop(note, keys);
    if (dropName(statement) !== name) throw new InvalidNote(`is the statement ${dropName(statement)}`);
    return { statement, note };
  } catch (error) {
    if (error instanceof InvalidNote) throw new ArchiveCorrupt(name, error.message, undefined, { cause: error });
    throw error;
  }
}

/** Last event of a generation in a statement of a drop; 0 for none. Does not check signatures: the files decide. */
export async function droppedTo(store: ArchiveStore, partition: string, generation: number): Promise<number> {
  const next = async (from: number): Promise<string | undefined> => {
    const after = dropName({ partition, generation, toSeq: Math.max(0, from - 1) });
    return (await store.list(dropsPrefix(partition, generation), { after, limit: 1 }))[0];
  };
  const last = await lastName(next, (name) => parseDropName(name)?.toSeq ?? 0);
  return last === undefined ? 0 : (parseDropName(last)?.toSeq ?? 0);
}

/**
 * Last event of a partition that retention has dropped; 0 for none. Drops begin with the oldest generation, so the newest one
 * with a statement decides, up to where a later one replaces it. Needs one list request if nothing was dropped.
 */
export async function droppedSeq(store: ArchiveStore, partition: string): Promise<number> {
  const [any] = await store.list(`${DROP_PREFIX}p${partition}/`, { limit: 1 });
  if (any === undefined) return 0;
  let replacedFrom = Infinity;
  for (const generation of (await generationsOf(store, partition)).toReversed()) {
    const to = await droppedTo(store, partition, generation);
    if (to > 0) return Math.min(to, replacedFrom - 1);
    const first = await findInGeneration(store, partition, generation, 0);
    if (first !== undefined) replacedFrom = Math.min(replacedFrom, first.tree.firstSeq);
  }
  return 0;
}
