import { ProblemError } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { decodeSnapshot } from '../call/call-snapshot.js';

/** Waiting calls of a partition in one read. */
const CHUNK = 64;

/** Place of a call in a set. Sets are sorted by the time of the approval request, then by id. */
export interface Place {
  readonly askedAt: number;
  readonly callId: string;
}

/** Negative: `a` comes first. */
export type ComparePlaces = (a: Place, b: Place) => number;

/** Order of a set in Redis. */
export function oldestFirst(a: Place, b: Place): number {
  if (a.askedAt !== b.askedAt) return a.askedAt - b.askedAt;
  return a.callId === b.callId ? 0 : a.callId < b.callId ? -1 : 1;
}

/** Reverse order of a set in Redis. */
export function newestFirst(a: Place, b: Place): number {
  return oldestFirst(b, a);
}

interface Walk {
  readonly redis: RedisConnection;
  readonly partition: string;
  readonly tenantId: string;
  readonly compare: typeof oldestFirst | typeof newestFirst;
  /** Place after which the walk begins; undefined for the beginning. */
  readonly after: Place | undefined;
  /** Filter of the waiting calls: a flag for each id, in their order. Absent: all. */
  readonly areWanted?: (callIds: readonly string[]) => Promise<readonly boolean[]>;
}

/** Reads the calls of one tenant in the set of a partition; the set has the calls of all tenants. */
export class PartitionWalk {
  private waiting: Place[] = [];
  private ended = false;
  /** Last place that was read; undefined at the beginning of the set. */
  private place: Place | undefined;

  constructor(private readonly walk: Walk) {
    this.place = walk.after;
  }

  get first(): Place | undefined {
    return this.waiting[0];
  }

  /** True if no call is buffered but the set is not read to its end. */
  get starved(): boolean {
    return this.waiting.length === 0 && !this.ended;
  }

  /** Place from which a starved walk continues. */
  get unread(): Place | undefined {
    return this.starved ? this.place : undefined;
  }

  take(): Place {
    const [first, ...rest] = this.waiting;
    if (first === undefined) throw new Error('take() needs a buffered call: await read() first');
    this.waiting = rest;
    return first;
  }

  /** Reads the next places and returns their number. */
  async read(): Promise<number> {
    const { redis, tenantId, areWanted } = this.walk;
    const places = await this.nextPlaces();
    this.place = places.at(-1) ?? this.place;
    this.ended = places.length === 0;
    if (this.ended) return 0;
    const snapshots = await redis.mgetBuffer(...places.map(({ callId }) => keys.call(callId)));
    const waiting = places.filter(({ callId }, n) => {
      const packed = snapshots[n];
      if (packed === null || packed === undefined) return false;
      const { status, meta } = decodeSnapshot(callId, packed);
      return status === 'waiting_approval' && meta.tenantId === tenantId;
    });
    const flags = await areWanted?.(waiting.map(({ callId }) => callId));
    this.waiting = flags === undefined ? waiting : waiting.filter((_, n) => flags[n]);
    return places.length;
  }

  /** Reads larger chunks if many approvals were requested in the same millisecond. */
  private async nextPlaces(): Promise<Place[]> {
    const { place } = this;
    for (let count = CHUNK; ; count *= 2) {
      const flat = await this.readSet(place?.askedAt, count);
      const places = flat.flatMap((callId, n) => (n % 2 === 0 ? [{ callId, askedAt: Number(flat[n + 1]) }] : []));
      const next = places.filter((found) => place === undefined || this.walk.compare(place, found) < 0);
      if (next.length > 0 || places.length < count) return next;
    }
  }

  private readSet(from: number | undefined, count: number): Promise<string[]> {
    const { redis, partition, compare } = this.walk;
    const set = keys.pendingApprovals(partition);
    return compare === newestFirst
      ? redis.zrevrangebyscore(set, from ?? '+inf', '-inf', 'WITHSCORES', 'LIMIT', 0, count)
      : redis.zrangebyscore(set, from ?? '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, count);
  }
}

/**
 * At most `count` calls of all partitions, in order. Stops after reading `budget.left` calls: `unread` is then the place after
 * which there may be more.
 */
export async function takeInOrder(
  walks: readonly PartitionWalk[],
  compare: ComparePlaces,
  count: number,
  budget: { left: number },
): Promise<{ readonly places: readonly Place[]; readonly unread?: Place }> {
  const places: Place[] = [];
  while (places.length < count) {
    const starved = walks.filter((walk) => walk.starved);
    if (starved.length > 0 && budget.left > 0) {
      for (const reads of await Promise.all(starved.map((walk) => walk.read()))) budget.left -= reads;
      continue;
    }
    const first = firstOf(walks, (walk) => walk.first, compare);
    const unread = firstOf(starved, (walk) => walk.unread, compare);
    // Unread calls of a partition may sort before the calls of the others.
    if (unread !== undefined && (first === undefined || compare(unread.place, first.place) < 0)) return { places, unread: unread.place };
    if (first === undefined) break;
    places.push(first.walk.take());
  }
  return { places };
}

function firstOf(walks: readonly PartitionWalk[], placeOf: (walk: PartitionWalk) => Place | undefined, compare: ComparePlaces) {
  return walks
    .flatMap((walk) => {
      const place = placeOf(walk);
      return place === undefined ? [] : [{ walk, place }];
    })
    .sort((a, b) => compare(a.place, b.place))[0];
}

export function encodePlace({ askedAt, callId }: Place): string {
  return `${askedAt.toString(36)}.${callId}`;
}

/** @throws ProblemError `invalid_request` for a cursor of another list */
export function decodePlace(text: string): Place {
  const [, time, callId] = /^([\da-z]{1,9})\.(\d{2,3}-[\dA-Z]{26})$/.exec(text) ?? [];
  if (time !== undefined && callId !== undefined) return { askedAt: Number.parseInt(time, 36), callId };
  const expected = 'expected the cursor of an earlier page of the same list, unchanged';
  throw new ProblemError('invalid_request', `The cursor cannot be read: ${expected}.`, {
    errors: [{ pointer: '/cursor', message: expected }],
  });
}
