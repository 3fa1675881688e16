import { listAll, type ArchiveStore, type Manifest } from '#archive';
import { decodeSnapshot } from '#event-log';
import { endedCallsName, lateEndName, valuesPrefix } from '../archive-names.js';
import { decodeEndedCalls } from '../ended-calls.js';
import type { RetainedKeys } from './retained-keys.port.js';

/**
 * Deletes what the archive has of a segment but its manifest and hashes: keys of its calls, large values, events, and last its
 * calls, by which it is found until all else is gone. Safe to repeat.
 *
 * @param isReplaced a later generation replaces these events: its calls may live there, under the same keys and late names
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
