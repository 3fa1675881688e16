import { partitionNames } from '#redis';
import type { Behind, CallEvent } from '#contracts';
import type { LogSource } from '../log-source.port.js';
import type { CallRecord } from '../record/call-record.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { sortEvents } from '../rows/event-shape.js';
import { foldEvents } from '../rows/fold-events.js';

/** Limits of the events, in number and characters, that one request reads from the log itself, ahead of the projectors. */
const MAX_EVENTS = 4_000;
const MAX_SIZE = 4 * 1_048_576;
/** Events in one read, so that a request exceeds `MAX_SIZE` by little. */
const PAGE = 25;

/** Records of a tenant's calls after the newest events of the log, and the remaining lag. */
export interface Tail {
  readonly records: ReadonlyMap<string, CallRecord>;
  /** Number of records without a row. */
  readonly added: number;
  readonly behind?: Behind;
}

export interface Place {
  readonly partition: string;
  readonly seq: number;
  /** Number of events that are not in the rows. */
  readonly lag: number;
}

/**
 * Reads the events that are not in the rows of `db`, a transaction that sees one state of the database. The answer contains all
 * events written before the request, unless the rows lag too far.
 */
export async function readTail(db: HistoryDatabase, log: LogSource, partitions: readonly string[], tenantId: string): Promise<Tail> {
  const places = await locate(db, log, partitions);
  const readable = new Set<Place>();
  const budget = { size: MAX_SIZE };
  let events = 0;
  for (const place of [...places].sort((a, b) => a.lag - b.lag)) if ((events += place.lag) <= MAX_EVENTS) readable.add(place);
  const read = await Promise.all(
    [...readable].map(async (place) => {
      const found = await readPlace(log, place, budget);
      if (found === undefined) readable.delete(place);
      return found ?? [];
    }),
  );
  const changes = await foldEvents(
    db,
    read.flat().filter(({ tenantid }) => tenantid === tenantId),
  );
  const records = new Map([...changes].map(([callId, { after }]) => [callId, after]));
  const added = [...changes.values()].filter(({ before }) => before === undefined).length;
  const late = places.filter((place) => !readable.has(place));
  return { records, added, ...(late.length === 0 ? {} : { behind: await describeLag(log, late) }) };
}

/** Undefined if `budget`, which all partitions of a request share, is used up before the end. */
async function readPlace(log: LogSource, { partition, seq, lag }: Place, budget: { size: number }): Promise<CallEvent[] | undefined> {
  const found: CallEvent[] = [];
  for (let next = seq + 1; next <= seq + lag;) {
    if (budget.size <= 0) return undefined;
    const { epoch, entries } = await log.read(partition, next, Math.min(PAGE, seq + lag + 1 - next));
    const last = entries.at(-1);
    if (last === undefined) break;
    budget.size -= entries.reduce((sum, { size }) => sum + size, 0);
    found.push(...sortEvents(partition, epoch, entries).events);
    next = last.seq + 1;
  }
  return found;
}

/** Lag of the rows behind the log; undefined for none. */
export async function behindOf(db: HistoryDatabase, log: LogSource, partitions: number): Promise<Behind | undefined> {
  const late = await locate(db, log, partitionNames(partitions));
  return late.length === 0 ? undefined : describeLag(log, late);
}

/** Partitions with events that are not in the rows. */
export async function locate(db: HistoryDatabase, log: LogSource, partitions: readonly string[]): Promise<Place[]> {
  const rows = await db.selectFrom('positions').select(['partition', 'seq']).where('partition', 'in', partitions).execute();
  const seqOf = new Map(rows.map(({ partition, seq }) => [partition, seq]));
  const places = await Promise.all(
    partitions.map(async (partition) => {
      const seq = seqOf.get(partition) ?? 0;
      return { partition, seq, lag: (await log.end(partition)) - seq };
    }),
  );
  return places.filter(({ lag }) => lag > 0);
}

export async function describeLag(log: LogSource, places: readonly Place[]): Promise<Behind> {
  const firsts = await Promise.all(places.map(({ partition, seq }) => log.read(partition, seq + 1, 1)));
  const times = firsts.flatMap(({ entries: [entry] }) => (entry?.event === undefined ? [] : [Date.parse(entry.event.time)]));
  const events = places.reduce((sum, { lag }) => sum + lag, 0);
  return { events, ms: Math.max(0, Date.now() - Math.min(Date.now(), ...times)) };
}
