import { keys, type RedisConnection } from '#redis';
import { FIRST_EPOCH, fingerprintOf, seqOf, type StreamEntry } from '../stream/stored-event.js';
import type { Position } from '../read/cursor.js';

/** Newest place of a partition's log. `fingerprint` is that of the entry at `seq`, unless it was trimmed or never existed. */
export interface LogTailPosition extends Position {
  readonly fingerprint?: string | undefined;
}

/** Result of a comparison of a reader's place with the present log. */
export type PositionCheck =
  | { readonly kind: 'there' }
  /** `continues`: the entry still exists, so no event that the reader has seen was lost. */
  | { readonly kind: 'other_epoch'; readonly epoch: number; readonly continues: boolean }
  | { readonly kind: 'rolled_back' };

/** Present place of `$`. The counter is read first: an empty stream then proves that nothing was appended in between. */
export async function readTailPosition(redis: RedisConnection, partition: string): Promise<LogTailPosition> {
  const [epoch, counter, newest] = await Promise.all([
    redis.get(keys.epoch(partition)),
    redis.get(keys.seq(partition)),
    redis.xrevrange(keys.log(partition), '+', '-', 'COUNT', 1),
  ]);
  const [entry] = newest;
  if (entry === undefined) return { epoch: epochOf(epoch), seq: Number(counter ?? 0) };
  return { epoch: epochOf(epoch), seq: seqOf(entry[0]), fingerprint: fingerprintOf(entry[1]) };
}

/**
 * Checks of each place that the entry that a reader has seen is still in the log. A log that lost its newest entries (a failover, a restored
 * backup) has a lower counter, or another entry in the same place.
 */
export async function checkPositions(
  redis: RedisConnection,
  places: readonly (LogTailPosition & { readonly name: string })[],
): Promise<readonly PositionCheck[]> {
  const [stored, entries] = await Promise.all([
    redis.mget(places.flatMap(({ name }) => [keys.epoch(name), keys.seq(name)])),
    readEntries(redis, places),
  ]);
  return places.map((place, index) =>
    checkPosition(place, stored[2 * index] ?? null, stored[2 * index + 1] ?? null, entries.get(place.name)),
  );
}

/** Entries at these places, by partition; all read by one command. Missing: trimmed, or lost. */
async function readEntries(
  redis: RedisConnection,
  places: readonly { readonly name: string; readonly seq: number }[],
): Promise<ReadonlyMap<string, StreamEntry>> {
  const begun = places.filter(({ seq }) => seq > 0);
  if (begun.length === 0) return new Map();
  const streams = [...begun.map(({ name }) => keys.log(name)), ...begun.map(({ seq }) => `${seq - 1}-0`)];
  const found = new Map((await redis.xread('COUNT', 1, 'STREAMS', ...streams)) ?? []);
  return new Map(
    begun.flatMap(({ name, seq }) => {
      const entry = found.get(keys.log(name))?.[0];
      return entry !== undefined && seqOf(entry[0]) === seq ? [[name, entry] as const] : [];
    }),
  );
}

function checkPosition(
  place: LogTailPosition,
  epoch: string | null,
  counter: string | null,
  entry: StreamEntry | undefined,
): PositionCheck {
  if (epochOf(epoch) > place.epoch) {
    const seen = entry === undefined ? undefined : fingerprintOf(entry[1]);
    return { kind: 'other_epoch', epoch: epochOf(epoch), continues: place.seq === 0 || (seen !== undefined && seen === place.fingerprint) };
  }
  if (epochOf(epoch) < place.epoch) return { kind: 'rolled_back' };
  if (entry === undefined) return Number(counter ?? 0) < place.seq ? { kind: 'rolled_back' } : { kind: 'there' };
  const other = place.fingerprint !== undefined && place.fingerprint !== fingerprintOf(entry[1]);
  return other ? { kind: 'rolled_back' } : { kind: 'there' };
}

/**
 * Raises the epoch after a loss. KEYS[1] epoch · ARGV[1] the epoch in which the loss was seen · returns the present epoch. Of
 * many readers that see one loss the first raises the epoch. The loss may include earlier raises.
 */
const RAISE_EPOCH = `#!lua flags=allow-oom
local now = tonumber(redis.call('GET', KEYS[1]) or '${FIRST_EPOCH}')
if now <= tonumber(ARGV[1]) then
  now = tonumber(ARGV[1]) + 1
  redis.call('SET', KEYS[1], now)
end
return now`;

/** Begins a new epoch after `lossSeenIn`, unless another reader has, so that ids of lost events are never used again. */
export async function raiseEpoch(redis: RedisConnection, partition: string, lossSeenIn: number): Promise<number> {
  return Number(await redis.eval(RAISE_EPOCH, 1, keys.epoch(partition), lossSeenIn));
}

function epochOf(stored: string | null): number {
  return stored === null ? FIRST_EPOCH : Number(stored);
}
