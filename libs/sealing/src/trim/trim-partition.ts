import type { ArchiveStore, Manifest } from '#archive';
import { decodeSnapshot, encodeKeptEntry, seqOf, type CallState, type StreamEntry } from '#event-log';
import { keys, type RedisConnection } from '#redis';
import { trimTo } from '../seal/archive-position.js';
import type { SegmentKeys } from '../segment-keys.js';

/** Keys that are removed or read in one command. */
const PAGE = 1_000;

/**
 * Removes a sealed segment from Redis: its entries, and all keys of the calls that ended in it. Stores the entries of open
 * calls beside the stream first. Safe to repeat, and concurrently. `segment` must be the oldest in the stream.
 */
export async function trimSegment(redis: RedisConnection, store: ArchiveStore, segment: Manifest, found: SegmentKeys): Promise<void> {
  const { partition, toSeq } = segment;
  await keepOpenCalls(redis, segment, found.others);
  await redis.set(keys.archive(), store.label);
  for (const page of pagesOf(found.ended)) await redis.unlink(...page);
  for (const page of pagesOf(found.keptSeqs)) await redis.hdel(keys.keptEntries(partition), ...page.map(String));
  await trimTo(redis, partition, toSeq);
}

/** Stores the lifecycle events of open calls, which claims, approvals and readers need. */
async function keepOpenCalls(redis: RedisConnection, { partition, fromSeq, toSeq }: Manifest, callIds: readonly string[]): Promise<void> {
  const open = (await readSnapshots(redis, callIds)).filter(({ status }) => status !== 'ended');
  const seqs = open.flatMap(({ lifecycleSeqs }) => lifecycleSeqs.filter((seq) => seq >= fromSeq && seq <= toSeq));
  for (const page of pagesOf(seqs)) {
    const entries = await Promise.all(page.map((seq) => redis.xrange(keys.log(partition), `${seq}-0`, `${seq}-0`)));
    const keptFields = entries.flat().flatMap((entry: StreamEntry) => [String(seqOf(entry[0])), encodeKeptEntry(entry)]);
    if (keptFields.length > 0) await redis.hset(keys.keptEntries(partition), ...keptFields);
  }
}

async function readSnapshots(redis: RedisConnection, ids: readonly string[]): Promise<CallState[]> {
  const found: CallState[] = [];
  for (const page of pagesOf(ids)) {
    const packed = await redis.mgetBuffer(...page.map((id) => keys.call(id)));
    found.push(...page.flatMap((id, index) => (packed[index] ? [decodeSnapshot(id, packed[index])] : [])));
  }
  return found;
}

function* pagesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += PAGE) yield items.slice(at, at + PAGE);
}
