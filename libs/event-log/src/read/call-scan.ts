import type { ApprovalPage, Call, ListCallsQuery } from '#contracts';
import { keys, partitionName, partitionOfRoot, type RedisConnection } from '#redis';
import { parseMeta, readEntry, seqOf, type StreamEntry } from '../stream/stored-event.js';
import { matches, mayMatch, type Candidate } from './call-filter.js';
import { decodePageCursor, encodePageCursor } from './page-cursor.js';

/** How many log entries one request may look at. */
const SCAN_BUDGET = 20_000;

/** One partition on the way from its newest entry to its oldest. */
interface Lane {
  readonly log: string;
  /** Nothing from here on upwards is to be shown any more; 1 or less: all seen. */
  position: number;
  /** Submissions read and not shown yet, newest first. */
  readonly buffer: Candidate[];
  /** Everything from here on upwards was read. */
  readTo: number;
}

/**
 * Lists calls by walking the partitions backwards and merging them by time. The log is the index: what is not found
 * within the budget is left to the next page, whose cursor says how far each partition was read.
 */
export class CallScan {
  constructor(
    private readonly redis: RedisConnection,
    private readonly partitions: number,
    private readonly outlines: (callIds: readonly string[]) => Promise<readonly (Call | undefined)[]>,
    private readonly budget = SCAN_BUDGET,
  ) {}

  async page(tenantId: string, query: ListCallsQuery): Promise<ApprovalPage> {
    const lanes = this.lanesOf(tenantId, query);
    const chunk = Math.max(64, Math.ceil((4 * query.limit) / lanes.length));
    const calls: Call[] = [];
    let scanned = 0;
    while (calls.length < query.limit) {
      const wanted = query.limit - calls.length;
      const picked: Candidate[] = [];
      let exhausted = false;
      while (picked.length < wanted && !exhausted) {
        while (scanned < this.budget && lanes.some(isStarved)) scanned += await this.fill(lanes, chunk, query);
        const next = newest(lanes);
        if (next === undefined) exhausted = true;
        else if (mayMatch(next, tenantId, query)) picked.push(next);
      }
      const found = await this.outlines(picked.map(({ callId }) => callId));
      calls.push(...found.filter((call) => call !== undefined).filter((call) => matches(call, query)));
      if (exhausted) break;
    }
    const more = lanes.some((lane) => lane.buffer.length > 0 || lane.position > 1);
    return { calls, ...(more ? { nextCursor: encodePageCursor(lanes.map(({ position }) => Math.max(position, 0))) } : {}) };
  }

  /** A session lives in one partition; everything else is spread over all of them. */
  private lanesOf(tenantId: string, { sessionId, cursor }: ListCallsQuery): Lane[] {
    const names =
      sessionId?.length !== 1
        ? Array.from({ length: this.partitions }, (_, index) => partitionName(index))
        : [partitionOfRoot(tenantId, sessionId[0] ?? '', this.partitions)];
    const positions = cursor === undefined ? names.map(() => Number.MAX_SAFE_INTEGER) : decodePageCursor(cursor, names.length);
    return names.map((name, index) => {
      const position = positions[index] ?? 0;
      return { log: keys.log(name), position, readTo: position, buffer: [] };
    });
  }

  /** Reads on in every partition that has nothing to offer; answers how many entries that were. */
  private async fill(lanes: readonly Lane[], chunk: number, { since }: ListCallsQuery): Promise<number> {
    const counts = await Promise.all(
      lanes.map(async (lane) => {
        if (!isStarved(lane)) return 0;
        const entries = await this.redis.xrevrange(lane.log, `${lane.readTo - 1}-0`, '-', 'COUNT', chunk);
        take(lane, entries, entries.length < chunk, since === undefined ? 0 : Date.parse(since));
        return entries.length;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

/** Has nothing to offer, but has not been read to its end. */
function isStarved({ buffer, readTo }: Lane): boolean {
  return buffer.length === 0 && readTo > 1;
}

/** Times rise along a partition, so nothing before `since` lies below an entry that is older. */
function take(lane: Lane, entries: readonly StreamEntry[], atStart: boolean, since: number): void {
  const [newestEntry] = entries;
  if (newestEntry !== undefined) lane.position = Math.min(lane.position, seqOf(newestEntry[0]) + 1);
  const oldest = entries.at(-1);
  const ended = atStart || oldest === undefined || Number(readEntry(oldest[1]).timeText) < since;
  lane.readTo = ended ? 0 : seqOf(oldest[0]);
  for (const [entryId, fields] of entries) {
    const { callId, type, timeText, meta, rest } = readEntry(fields);
    if (type === 'call.submitted')
      lane.buffer.push({ callId, seq: seqOf(entryId), time: Number(timeText), meta: parseMeta(meta), text: rest });
  }
  if (lane.buffer.length === 0) lane.position = lane.readTo;
}

/**
 * Takes the newest submission of all partitions; undefined when there is none, or when a partition that was not read to
 * its end has nothing to compare: then the budget is used up.
 */
function newest(lanes: readonly Lane[]): Candidate | undefined {
  let best: Lane | undefined;
  for (const lane of lanes) {
    if (isStarved(lane)) return undefined;
    const [first] = lane.buffer;
    if (first !== undefined && first.time > (best?.buffer[0]?.time ?? 0)) best = lane;
  }
  const candidate = best?.buffer.shift();
  if (best !== undefined && candidate !== undefined) best.position = best.buffer.length > 0 ? candidate.seq : best.readTo;
  return candidate;
}
