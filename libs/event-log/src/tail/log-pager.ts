import { keys, partitionName, type RedisConnection } from '#redis';
import type { StoredEvent } from '../event-log.port.js';
import { CallEventReader } from '../read/call-event-reader.js';
import { readEntry, seqOf, toTailedEvent } from '../stream/stored-event.js';
import type { Position } from '../read/cursor.js';
import type { LogArchive } from '../read/log-archive.port.js';
import { PartitionLog } from '../read/partition-log.js';
import { readTailPosition } from './log-tail-position.js';

/** A run of a partition's log: its events up to and with `seq`. */
export interface LogPage {
  readonly events: readonly StoredEvent[];
  readonly seq: number;
}

/** Reads events older than memory, by pages, on a connection shared with other commands. */
export class LogPager {
  private readonly callEvents: CallEventReader;

  constructor(
    private readonly redis: RedisConnection,
    archive?: LogArchive,
    private readonly pageSize = 500,
  ) {
    this.callEvents = new CallEventReader(new PartitionLog(redis, archive), archive);
  }

  /**
   * The next page after `from`, at most to `toSeq`; with `callId` the events of that call only. Undefined if entries are
   * missing: trimmed, or lost.
   */
  async page(partition: number, from: Position, toSeq: number, callId?: string): Promise<LogPage | undefined> {
    return (callId === undefined ? undefined : await this.pageOfCall(callId, from, toSeq)) ?? this.scan(partition, from, toSeq, callId);
  }

  /** Newest place of the partition in Redis, which may be ahead of the tail. */
  end(partition: number): Promise<Position> {
    return readTailPosition(this.redis, partitionName(partition));
  }

  /** Undefined if the index of the call is incomplete: the scan detects missing entries. */
  private async pageOfCall(callId: string, from: Position, toSeq: number): Promise<LogPage | undefined> {
    const call = await this.callEvents.locate(callId);
    return call?.epoch === from.epoch ? this.callEvents.byIndex(call, from.seq, toSeq, this.pageSize) : undefined;
  }

  private async scan(partition: number, from: Position, toSeq: number, callId?: string): Promise<LogPage | undefined> {
    const name = partitionName(partition);
    const entries = await this.redis.xrange(keys.log(name), `${from.seq + 1}-0`, `${toSeq}-0`, 'COUNT', this.pageSize);
    const events: StoredEvent[] = [];
    let seq = from.seq;
    for (const [entryId, fields] of entries) {
      if (seqOf(entryId) !== seq + 1) return undefined;
      seq += 1;
      if (callId !== undefined && readEntry(fields).callId !== callId) continue;
      const event = toTailedEvent(name, from.epoch, entryId, fields);
      if (event) events.push(event);
    }
    return seq === from.seq ? undefined : { events, seq };
  }
}
