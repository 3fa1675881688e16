import type { CallEvent } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { upcastEvent } from '../call/upcasters.js';
import { fingerprintOf, FIRST_EPOCH, readEntry, seqOf, toStoredEvent } from '../stream/stored-event.js';

/** One entry of a partition, for readers that follow the log from a checkpoint of their own. */
export interface LogEntry {
  readonly seq: number;
  /** Tells entries with the same number apart: a log that lost its end may use a number again. */
  readonly mark: string;
  /** Absent for Updates, Progress, and types that this version does not know. */
  readonly event?: CallEvent;
}

/** Reads a partition in order, by pages, on a connection shared with other commands. */
export class LogReader {
  constructor(private readonly redis: RedisConnection) {}

  /** Entries from `fromSeq` on, at most `limit`, and the partition's epoch. */
  async read(partition: string, fromSeq: number, limit: number): Promise<{ epoch: number; entries: LogEntry[] }> {
    const [stored, found] = await Promise.all([
      this.redis.get(keys.epoch(partition)),
      this.redis.xrange(keys.log(partition), `${fromSeq}-0`, '+', 'COUNT', limit),
    ]);
    const epoch = Number(stored ?? FIRST_EPOCH);
    const entries = found.map(([entryId, fields]) => {
      const entry = { seq: seqOf(entryId), mark: fingerprintOf(fields) };
      const { type } = readEntry(fields);
      if (type === 'call.update' || type === 'call.progress' || type === 'call.hook' || type === 'call.turn') return entry;
      const event = toStoredEvent(partition, epoch, entryId, fields);
      return event === undefined ? entry : { ...entry, event: upcastEvent(event.json) };
    });
    return { epoch, entries };
  }

  /** The newest sequence number of a partition; 0 while it has none. */
  async end(partition: string): Promise<number> {
    return Number((await this.redis.get(keys.seq(partition))) ?? 0);
  }
}
