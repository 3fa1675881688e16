import { loadLines, type ArchiveStore, type Manifest } from '#archive';
import { decodeSnapshot } from '#event-log';
import { keys } from '#redis';
import { endedCallsName } from './archive-names.js';
import { decodeEndedCalls, type EndedCall } from './ended-calls.js';

/** Parts of Redis that a trimmed segment leaves behind. */
export interface SegmentKeys {
  /** Keys of the calls that ended in the segment. */
  readonly ended: readonly string[];
  /** Numbers of the entries kept for these calls since earlier segments were trimmed. */
  readonly keptSeqs: readonly number[];
  /** Other calls with events in the segment, most of them open. */
  readonly others: readonly string[];
}

/** @param callIds all calls with events in the segment; empty for events beside calls */
export function keysOf(
  calls: readonly (Pick<EndedCall, 'id' | 'values'> & { readonly earlierSeqs: readonly number[] })[],
  callIds: ReadonlySet<string>,
): SegmentKeys {
  const ended = new Set(calls.map(({ id }) => id));
  return {
    ended: calls.flatMap(({ id, values }) => [
      keys.call(id),
      keys.updateIndex(id),
      ...Object.keys(values).map((ref) => keys.blob(id, ref)),
    ]),
    keptSeqs: calls.flatMap(({ earlierSeqs }) => earlierSeqs),
    others: [...callIds].filter((id) => id !== '' && !ended.has(id)),
  };
}

/** Reads the keys of a segment from the archive. */
export async function readKeys(store: ArchiveStore, segment: Manifest): Promise<SegmentKeys> {
  const name = endedCallsName(segment);
  const file = await store.get(name);
  if (file === undefined) throw new Error(`The archive ${store.label} lacks ${name}.`);
  const calls = [...decodeEndedCalls(file).values()].map(({ id, snapshot, values }) => ({
    id,
    values,
    earlierSeqs: decodeSnapshot(id, snapshot).lifecycleSeqs.filter((seq) => seq < segment.fromSeq),
  }));
  const lines = await loadLines(store, segment);
  return keysOf(calls, new Set(lines.flatMap((line) => callIdOf(line) ?? [])));
}

/** Id of the call of an event; undefined for events of sessions, workers and sources. */
function callIdOf(line: Buffer): string | undefined {
  return /"subject":"(\d{2,3}-[0-9A-Z]{26})"/.exec(line.toString())?.[1];
}
