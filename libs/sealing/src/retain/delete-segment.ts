import { listAll, type ArchiveStore, type Manifest } from '#archive';
import { decodeSnapshot } from '#event-log';
import { endedCallsName, lateEndName, valuesPrefix } from '../archive-names.js';
import { decodeEndedCalls } from '../ended-calls.js';
import type { RetainedKeys } from './retained-keys.port.js';

/**
 * Deletes a segment except its manifest and hashes: keys of its calls, large values, events, and last the list of its calls, by
 * which an unfinished deletion is found. Safe to repeat.
 *
 * @param isReplaced true if a later generation replaces these events: its calls may use the same keys and late names there
 */
export async function deleteSegment(
  store: ArchiveStore,
  keys: RetainedKeys | undefined,
  segment: Manifest,
  isReplaced: boolean,
): Promise<void> {
  if (!isReplaced) await deleteNamesOfCalls(store, keys, segment);
  for await (const name of listAll(store, valuesPrefix(segment))) await store.delete(name);
  await store.delete(segment.file.name);
  await store.delete(endedCallsName(segment));
}

async function deleteNamesOfCalls(store: ArchiveStore, keys: RetainedKeys | undefined, segment: Manifest): Promise<void> {
  const file = await store.get(endedCallsName(segment));
  const calls = file === undefined ? [] : [...decodeEndedCalls(file).values()];
  const encrypted = calls.filter((call) => call.encrypted === true).map(({ id }) => id);
  if (encrypted.length > 0) await keys?.forget(encrypted);
  for (const { id, snapshot } of calls) {
    const [submitted = segment.fromSeq] = decodeSnapshot(id, snapshot).lifecycleSeqs;
    if (submitted < segment.fromSeq) await store.delete(lateEndName(id));
  }
}
