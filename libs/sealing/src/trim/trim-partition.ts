import { loadLines, type ArchiveStore, type Manifest } from '#archive';
import { decodeSnapshot, encodeKeptEntry, seqOf, type CallState, type StreamEntry } from '#event-log';
import { keys, type RedisConnection } from '#redis';
import { endedCallsName } from '../archive-names.js';
import { decodeEndedCalls, type EndedCall } from '../ended-calls.js';
import { trimTo } from '../seal/archive-position.js';

/** Calls whose keys are removed or read in one batch. */
const PAGE = 500;

/**
 * Removes a sealed segment from Redis: its entries, and all keys of the calls that ended in it. Stores the entries of open
 * calls beside the stream first. Safe to repeat, and concurrently. `segment` must be the oldest in the stream.
 */
export async function trimSegment(redis: RedisConnection, store: ArchiveStore, segment: Manifest): Promise<void> {
  const { partition, toSeq } = segment;
  const ended = await endedCallsOf(store, segment);
  await keepOpenCalls(redis, store, segment, ended);
  await redis.set(keys.archive(), store.label);
  await removeCalls(redis, partition, [...ended.values()], segment.fromSeq);
  await trimTo(redis, partition, toSeq);
}

async function endedCallsOf(store: ArchiveStore, segment: Manifest): Promise<ReadonlyMap<string, EndedCall>> {
  const name = endedCallsName(segment);
  const file = await store.get(name);
  if (file === undefined) throw new Error(`The archive ${store.label} lacks ${name}.`);
  return decodeEndedCalls(file);
}

/** Stores the lifecycle events of open calls, which claims, approvals and readers need. */
async function keepOpenCalls(
  redis: RedisConnection,
  store: ArchiveStore,
  segment: Manifest,
  ended: ReadonlyMap<string, EndedCall>,
): Promise<void> {
  const { partition, fromSeq, toSeq } = segment;
  const lines = await loadLines(store, segment);
  const ids = new Set(lines.flatMap((line) => callIdOf(line) ?? []).filter((id) => !ended.has(id)));
  const open = (await readSnapshots(redis, [...ids])).filter(({ status }) => status !== 'ended');
  const seqs = open.flatMap(({ lifecycleSeqs }) => lifecycleSeqs.filter((seq) => seq >= fromSeq && seq <= toSeq));
  for (let at = 0; at < seqs.length; at += PAGE) {
    const found = await Promise.all(seqs.slice(at, at + PAGE).map((seq) => redis.xrange(keys.log(partition), `${seq}-0`, `${seq}-0`)));
    const keptFields = found.flat().flatMap((entry: StreamEntry) => [String(seqOf(entry[0])), encodeKeptEntry(entry)]);
    if (keptFields.length > 0) await redis.hset(keys.keptEntries(partition), ...keptFields);
  }
}

async function readSnapshots(redis: RedisConnection, ids: readonly string[]): Promise<CallState[]> {
  const found: CallState[] = [];
  for (let at = 0; at < ids.length; at += PAGE) {
    const page = ids.slice(at, at + PAGE);
    const packed = await redis.mgetBuffer(...page.map((id) => keys.call(id)));
    found.push(...page.flatMap((id, index) => (packed[index] ? [decodeSnapshot(id, packed[index])] : [])));
  }
  return found;
}

async function removeCalls(redis: RedisConnection, partition: string, calls: readonly EndedCall[], fromSeq: number): Promise<void> {
  for (let at = 0; at < calls.length; at += PAGE) {
    const page = calls.slice(at, at + PAGE);
    const callKeys = page.flatMap(({ id, values }) => [
      keys.call(id),
      keys.updateIndex(id),
      ...Object.keys(values).map((ref) => keys.blob(id, ref)),
    ]);
    if (callKeys.length > 0) await redis.unlink(...callKeys);
    const keptSeqs = page.flatMap(({ id, snapshot }) => decodeSnapshot(id, snapshot).lifecycleSeqs.filter((seq) => seq < fromSeq));
    if (keptSeqs.length > 0) await redis.hdel(keys.keptEntries(partition), ...keptSeqs.map(String));
  }
}

/** Id of the call of an event; undefined for events of sessions, workers and sources. */
function callIdOf(line: Buffer): string | undefined {
  return /"subject":"(\d{2,3}-[0-9A-Z]{26})"/.exec(line.toString())?.[1];
}
