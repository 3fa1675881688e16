import { ProblemError, type CallCount, type CallFilter, type CallPage, type ListCallsQuery } from '#contracts';
import { partitionOfRoot, type RedisConnection } from '#redis';
import { queryWords, summaryOf, type LogSource } from '#history';
import { countBits, numbersOf, SEGMENT } from '../postings/postings.js';
import { LaneReader, wantedOf, type Wanted } from './lane-reader.js';
import { LaneWalk } from './lane-walk.js';
import { openLanes, type Lanes } from './lane.js';
import { decodePageCursor, encodePageCursor } from './page-cursor.js';

/** Records that one request reads at most: what words cannot be told by signatures costs a look at each. */
const READ_BUDGET = 10_000;
const LEAST_CHUNK = 16;
const COUNT_CHUNK = 500;

/**
 * Lists and counts calls by any filter. Every answer is about one tenant, and as fresh as the log, unless it says how far
 * it is behind.
 */
export class CallIndex {
  constructor(
    private readonly redis: RedisConnection,
    private readonly log: LogSource,
    private readonly partitions: number,
  ) {}

  /**
   * A page, newest first: each partition is walked from its newest call to its oldest, and they are merged by time.
   * Throws `invalid_request` for a cursor that is not from here, or a text without a letter or digit.
   */
  async page(tenantId: string, { cursor, limit, ...filter }: ListCallsQuery): Promise<CallPage> {
    const wanted = wantedFrom(filter);
    const below = cursor === undefined ? undefined : decodePageCursor(cursor, this.partitions);
    const { readers, behind } = await this.open(tenantId, wanted);
    const walks = await Promise.all(readers.map((reader) => LaneWalk.begin(reader, below?.[reader.lane.index])));
    const calls: CallPage['calls'] = [];
    const chunk = Math.max(LEAST_CHUNK, Math.ceil((4 * limit) / walks.length));
    let budget = READ_BUDGET;
    while (calls.length < limit) {
      const starved = walks.filter((walk) => walk.starved);
      if (starved.length > 0) {
        if (budget <= 0) break;
        const read = await Promise.all(starved.map((walk) => walk.fill(chunk)));
        budget -= read.reduce((sum, count) => sum + count, 0);
        continue;
      }
      const call = takeNewest(walks);
      if (call === undefined) break;
      calls.push(summaryOf(call));
    }
    const positions = Array.from({ length: this.partitions }, () => 0);
    readers.forEach(({ lane }, n) => (positions[lane.index] = walks[n]?.position ?? 0));
    const everything = Object.keys(filter).length === 0;
    return {
      calls,
      ...(positions.some((position) => position > 0) ? { nextCursor: encodePageCursor(positions) } : {}),
      ...(everything ? { total: readers.reduce((sum, { total }) => sum + total, 0) } : {}),
      ...(behind === undefined ? {} : { behind }),
    };
  }

  /** Not exact when free text has more candidates than one request may look at, nor while the answer is behind the log. */
  async count(tenantId: string, filter: CallFilter): Promise<CallCount> {
    const wanted = wantedFrom(filter);
    const { readers, behind } = await this.open(tenantId, wanted);
    let budget = READ_BUDGET;
    const spend = (records: number) => (budget -= records) >= 0;
    const counts = await Promise.all(readers.map((reader) => countLane(reader, wanted, spend)));
    return {
      count: counts.reduce((sum, { count }) => sum + count, 0),
      exact: behind === undefined && counts.every(({ exact }) => exact),
      ...(behind === undefined ? {} : { behind }),
    };
  }

  /** Sessions live in one partition each; any other filter is about all of them. */
  private async open(tenantId: string, wanted: Wanted): Promise<{ readers: LaneReader[]; behind?: Lanes['behind'] }> {
    const { sessionId } = wanted.filter;
    const all = Array.from({ length: this.partitions }, (_, index) => index);
    const partitions =
      sessionId === undefined ? all : [...new Set(sessionId.map((id) => Number(partitionOfRoot(tenantId, id, this.partitions))))];
    const { lanes, behind } = await openLanes(this.redis, this.log, partitions, tenantId);
    return { readers: lanes.map((lane) => new LaneReader(this.redis, lane, wanted)), behind };
  }
}

function wantedFrom(filter: CallFilter): Wanted {
  const words = filter.q === undefined ? [] : queryWords(filter.q);
  if (filter.q !== undefined && words.length === 0) {
    const expected = 'expected at least one letter or digit';
    throw new ProblemError('invalid_request', `There is nothing to look for in q: ${expected}.`, {
      errors: [{ pointer: '/q', message: expected }],
    });
  }
  return wantedOf(filter, words);
}

function takeNewest(walks: readonly LaneWalk[]) {
  let best: LaneWalk | undefined;
  for (const walk of walks) {
    if (walk.newest !== undefined && walk.newest.record.submittedAt > (best?.newest?.record.submittedAt ?? -Infinity)) best = walk;
  }
  return best?.take()?.record;
}

async function countLane(
  reader: LaneReader,
  { exact }: Wanted,
  spend: (records: number) => boolean,
): Promise<{ count: number; exact: boolean }> {
  const [from, to] = await reader.bounds();
  let count = reader.fresh(from, to).length;
  const top = Math.min(to, reader.lane.projected);
  const segments = Array.from(
    { length: Math.max(0, Math.ceil(top / SEGMENT) - Math.floor(from / SEGMENT)) },
    (_, n) => n + Math.floor(from / SEGMENT),
  );
  const found = await Promise.all(segments.map((segment) => reader.candidates(segment, from, to)));
  if (exact) return { count: found.reduce((sum, bits) => sum + countBits(bits), count), exact: true };
  for (const [n, bits] of found.entries()) {
    const ordinals = numbersOf(bits).map((number) => (segments[n] ?? 0) * SEGMENT + number);
    for (let at = 0; at < ordinals.length; at += COUNT_CHUNK) {
      const chunk = ordinals.slice(at, at + COUNT_CHUNK);
      if (!spend(chunk.length)) return { count, exact: false };
      count += (await reader.fitting(chunk)).length;
    }
  }
  return { count, exact: true };
}
