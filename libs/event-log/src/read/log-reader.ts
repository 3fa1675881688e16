import { AdminEvent, ADMIN_TYPES, NOTICE_TYPES, type CallEvent } from '#contracts';
import { getTogether, keys, type RedisConnection } from '#redis';
import type { LogArchive } from './log-archive.port.js';
import { PartitionLog } from './partition-log.js';
import { fingerprintOf, FIRST_EPOCH, parseEntry, seqOf, typeOf } from '../stream/stored-event.js';
import { toStoredSystemEvent } from '../stream/stored-system-event.js';

/** Entry of a partition, for readers that follow the log from a checkpoint of their own. */
export interface LogEntry {
  readonly seq: number;
  /** Distinguishes entries with the same number: a log that lost its end may use a number again. */
  readonly mark: string;
  /** Characters of its text. */
  readonly size: number;
  /** Absent for Updates, Progress, notices, acts, and entries with a fault. */
  readonly event?: CallEvent;
  /** An administrative act; such an entry has no `event`. */
  readonly act?: AdminEvent;
  /** Reason why the entry cannot be read; such an entry has no event. */
  readonly fault?: string;
}

/** Types of entries that change nothing for readers of calls, or concern sessions and workers. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['call.update', 'call.progress', 'call.hook', 'call.turn', ...NOTICE_TYPES]);
const ACTS: ReadonlySet<string> = new Set(ADMIN_TYPES);
const FAULT_CHARS = 200;

/** Reads a partition in order, by pages, on a connection shared with other commands. */
export class LogReader {
  private readonly log: PartitionLog;

  /** `archive` has the entries that have left Redis. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly archive?: LogArchive,
  ) {
    this.log = new PartitionLog(redis, archive);
  }

  /** Entries from `fromSeq` on, at most `limit`, and the partition's epoch. */
  async read(partition: string, fromSeq: number, limit: number): Promise<{ epoch: number; entries: LogEntry[] }> {
    const [stored, found] = await Promise.all([
      getTogether(this.redis, keys.epoch(partition)),
      this.log.range(partition, fromSeq, Number.MAX_SAFE_INTEGER, limit),
    ]);
    const epoch = Number(stored ?? FIRST_EPOCH);
    const entries = found.map(([entryId, fields]) => entryOf(partition, epoch, entryId, fields));
    return { epoch, entries };
  }

  /** Oldest readable sequence number of a partition; of an empty one the next number. */
  async first(partition: string): Promise<number> {
    const [oldest] = await this.log.range(partition, 1, Number.MAX_SAFE_INTEGER, 1);
    return oldest === undefined ? (await this.end(partition)) + 1 : seqOf(oldest[0]);
  }

  /** Last event that retention has dropped; 0 for none. */
  async dropped(partition: string): Promise<number> {
    return (await this.archive?.droppedSeq(partition)) ?? 0;
  }

  /** Newest sequence number of a partition; 0 while it is empty. */
  end(partition: string): Promise<number> {
    return this.log.end(partition);
  }
}

/** Never throws: an entry that cannot be read must not hold up those after it. */
function entryOf(partition: string, epoch: number, entryId: string, fields: readonly string[]): LogEntry {
  const entry = { seq: seqOf(entryId), mark: fingerprintOf(fields), size: fields.reduce((sum, text) => sum + text.length, 0) };
  const type = typeOf(fields);
  if (WITHOUT_EFFECT.has(type)) return entry;
  try {
    if (ACTS.has(type)) return { ...entry, ...actOf(partition, epoch, entryId, fields) };
    const event = parseEntry(partition, epoch, entryId, fields);
    if (event === undefined) return { ...entry, fault: cut(`the type ${JSON.stringify(type)} is unknown to this version`) };
    return { ...entry, event };
  } catch (error) {
    return { ...entry, fault: cut(error instanceof Error ? error.message : String(error)) };
  }
}

/** @throws ZodError or SyntaxError for a malformed act */
function actOf(partition: string, epoch: number, entryId: string, fields: readonly string[]): { readonly act?: AdminEvent } {
  const stored = toStoredSystemEvent(partition, epoch, entryId, fields);
  return stored === undefined ? {} : { act: AdminEvent.parse(JSON.parse(stored.json)) };
}

function cut(text: string): string {
  return text.slice(0, FAULT_CHARS);
}
