import { ProblemError } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { decodeSnapshot } from '../call/call-snapshot.js';

/** Waiting calls of a partition that are read at a time, and of all partitions for one page at most. */
const CHUNK = 64;
const EXAMINED = 20_000;

/** A call in a set: sets are sorted by the time at which the question came, then by id. */
interface Place {
  readonly askedAt: number;
  readonly callId: string;
}

export interface PendingApprovalPage {
  /** Newest first. */
  readonly callIds: readonly string[];
  readonly nextCursor?: string;
}

/**
 * The calls of one tenant that wait for a person, newest first, out of the sets that apply-transitions.lua keeps. A set has the
 * calls of all tenants: a page reads at most 20,000 of them and may be short, even empty, and still have a cursor.
 *
 * @throws ProblemError `invalid_request` for a cursor that is not from here
 */
export async function listPendingApprovals(
  redis: RedisConnection,
  partitions: readonly string[],
  tenantId: string,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<PendingApprovalPage> {
  const after = cursor === undefined ? undefined : decodePlace(cursor);
  const walks = partitions.map((partition) => new PartitionWalk(redis, partition, tenantId, after));
  const found: Place[] = [];
  for (;;) {
    const examined = walks.reduce((sum, walk) => sum + walk.examined, 0);
    const starved = walks.filter((walk) => walk.starved);
    if (starved.length > 0 && examined < EXAMINED) {
      await Promise.all(starved.map((walk) => walk.read()));
      continue;
    }
    const [first] = walks.filter((walk) => walk.newest !== undefined).sort((a, b) => compare(a.newest, b.newest));
    const unread = starved.flatMap(({ place }) => place ?? []).sort(compare)[0];
    // What a partition was not read for may be newer than what the others have.
    if (unread !== undefined && compare(unread, first?.newest) < 0) return { callIds: idsOf(found), nextCursor: encodePlace(unread) };
    const last = found.at(-1);
    if (first?.newest === undefined) return { callIds: idsOf(found) };
    if (found.length === limit && last !== undefined) return { callIds: idsOf(found), nextCursor: encodePlace(last) };
    found.push(first.take());
  }
}

/** Reads the set of a partition from its newest call on. */
class PartitionWalk {
  private waiting: Place[] = [];
  private ended = false;
  examined = 0;

  /** `place`: after it nothing was read yet; undefined at the beginning of the set. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly partition: string,
    private readonly tenantId: string,
    public place: Place | undefined,
  ) {}

  get newest(): Place | undefined {
    return this.waiting[0];
  }

  /** Has nothing to offer, but has not read everything. */
  get starved(): boolean {
    return this.waiting.length === 0 && !this.ended;
  }

  take(): Place {
    const [first, ...rest] = this.waiting;
    if (first === undefined) throw new Error('There is no call to take: read() comes before');
    this.waiting = rest;
    return first;
  }

  async read(): Promise<void> {
    const places = await this.nextPlaces();
    const last = places.at(-1);
    if (last === undefined) return void (this.ended = true);
    this.place = last;
    this.examined += places.length;
    const snapshots = await this.redis.mgetBuffer(...places.map(({ callId }) => keys.call(callId)));
    this.waiting = places.filter(({ callId }, n) => {
      const packed = snapshots[n];
      if (packed === null || packed === undefined) return false;
      const { status, meta } = decodeSnapshot(callId, packed);
      return status === 'waiting_approval' && meta.tenantId === this.tenantId;
    });
  }

  /** Reads more at once where many calls were asked about in the same millisecond. */
  private async nextPlaces(): Promise<Place[]> {
    const { place } = this;
    for (let count = CHUNK; ; count *= 2) {
      const max = place?.askedAt ?? '+inf';
      const flat = await this.redis.zrevrangebyscore(keys.pendingApprovals(this.partition), max, '-inf', 'WITHSCORES', 'LIMIT', 0, count);
      const places = flat.flatMap((callId, n) => (n % 2 === 0 ? [{ callId, askedAt: Number(flat[n + 1]) }] : []));
      const next = places.filter((found) => place === undefined || compare(place, found) < 0);
      if (next.length > 0 || places.length < count) return next;
    }
  }
}

function idsOf(places: readonly Place[]): string[] {
  return places.map(({ callId }) => callId);
}

/** Newest first, as Redis sorts a set backwards; what is not there comes last. */
function compare(a: Place | undefined, b: Place | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (a.askedAt !== b.askedAt) return b.askedAt - a.askedAt;
  return a.callId === b.callId ? 0 : a.callId < b.callId ? 1 : -1;
}

function encodePlace({ askedAt, callId }: Place): string {
  return `${askedAt.toString(36)}.${callId}`;
}

function decodePlace(text: string): Place {
  const [, time, callId] = /^([\da-z]{1,9})\.(\d{2,3}-[\dA-Z]{26})$/.exec(text) ?? [];
  if (time !== undefined && callId !== undefined) return { askedAt: Number.parseInt(time, 36), callId };
  const expected = 'expected the cursor of an earlier page, unchanged';
  throw new ProblemError('invalid_request', `The cursor cannot be read: ${expected}.`, {
    errors: [{ pointer: '/cursor', message: expected }],
  });
}
