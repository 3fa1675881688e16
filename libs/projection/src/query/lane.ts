import type { Behind } from '#contracts';
import { keys, partitionName, type RedisConnection } from '#redis';
import type { CallRecord, LogEntry, LogSource } from '#history';
import { Draft } from '../write/draft.js';
import { countField, foldEvents } from '../write/fold-events.js';
import { PROJECTION_FORMAT } from '../write/view-state.js';

/** Events that one request reads from the log itself, since the projection has not come to them yet. */
const TAIL_BUDGET = 4_000;

/** The tenant's calls in one partition as of one moment: those projected, and what the newest events make of them. */
export interface Lane {
  readonly index: number;
  readonly partition: string;
  readonly tenantId: string;
  /** Calls in the projection; their ordinals are below. */
  readonly projected: number;
  /** Calls that are not in it yet; the first has the ordinal `projected`. */
  readonly fresh: readonly CallRecord[];
  /** Projected calls that have moved on since: ordinal → what they are now. */
  readonly moved: ReadonlyMap<number, CallRecord>;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  /** There when some partitions were too far behind to be made up for. */
  readonly behind?: Behind;
}

interface Place {
  readonly index: number;
  readonly partition: string;
  readonly tenantId: string;
  readonly seq: number;
  readonly projected: number;
  /** Entries of the log that are not projected. */
  readonly lag: number;
}

/**
 * Opens partitions for a question of a tenant. What was written to the log before the question is in the answer, unless
 * the projection lags so much that reading on would cost too much: then the answer says so.
 */
export async function openLanes(redis: RedisConnection, log: LogSource, partitions: readonly number[], tenantId: string): Promise<Lanes> {
  const places = await Promise.all(partitions.map((index) => locate(redis, log, index, tenantId)));
  const readable = new Set<Place>();
  let budget = TAIL_BUDGET;
  for (const place of [...places].sort((a, b) => a.lag - b.lag)) if ((budget -= place.lag) >= 0) readable.add(place);
  const lanes = await Promise.all(
    places.map(async (place) => (readable.has(place) && place.lag > 0 ? withTail(redis, log, place) : laneOf(place, [], new Map()))),
  );
  const late = places.filter((place) => !readable.has(place));
  return late.length === 0 ? { lanes } : { lanes, behind: await behind(log, late) };
}

/** The checkpoint and the tenant's count belong together, so they are read together. */
async function locate(redis: RedisConnection, log: LogSource, index: number, tenantId: string): Promise<Place> {
  const partition = partitionName(index);
  const [[format, seqText, count], end] = await Promise.all([
    redis.hmget(keys.view(partition), 'f', 's', countField(tenantId)),
    log.end(partition),
  ]);
  const known = format === PROJECTION_FORMAT;
  const seq = known ? Number(seqText) : 0;
  return { index, partition, tenantId, seq, projected: known ? Number(count ?? 0) : 0, lag: Math.max(0, end - seq) };
}

async function withTail(redis: RedisConnection, log: LogSource, place: Place): Promise<Lane> {
  const { entries } = await log.read(place.partition, place.seq + 1, place.lag);
  const events = entries.flatMap(({ event }: LogEntry) => (event?.tenantid === place.tenantId ? [event] : []));
  if (events.length === 0) return laneOf(place, [], new Map());
  const { changes } = await foldEvents(new Draft(redis), place.partition, events, () => place.projected);
  const fresh: CallRecord[] = [];
  const moved = new Map<number, CallRecord>();
  for (const { ordinal, before, after } of changes) {
    if (before === undefined) fresh[ordinal - place.projected] = after;
    else if (ordinal < place.projected) moved.set(ordinal, after);
  }
  return laneOf(place, fresh, moved);
}

function laneOf(
  { index, partition, tenantId, projected }: Place,
  fresh: readonly CallRecord[],
  moved: ReadonlyMap<number, CallRecord>,
): Lane {
  return { index, partition, tenantId, projected, fresh, moved };
}

/** How far answers from the projection alone are behind the log. Absent when they are not. */
export async function behindOf(redis: RedisConnection, log: LogSource, partitions: number): Promise<Behind | undefined> {
  const places = await Promise.all(Array.from({ length: partitions }, (_, index) => locate(redis, log, index, '')));
  const late = places.filter(({ lag }) => lag > 0);
  return late.length === 0 ? undefined : behind(log, late);
}

async function behind(log: LogSource, places: readonly Place[]): Promise<Behind> {
  const firsts = await Promise.all(places.map(({ partition, seq }) => log.read(partition, seq + 1, 1)));
  const times = firsts.flatMap(({ entries: [entry] }) => (entry?.event === undefined ? [] : [Date.parse(entry.event.time)]));
  const events = places.reduce((sum, { lag }) => sum + lag, 0);
  return { events, ms: Math.max(0, Date.now() - Math.min(Date.now(), ...times)) };
}
