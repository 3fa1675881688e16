import { keys, partitionOf, writeTogether } from '#redis';
import { decodeSnapshot, type CallState } from '../call/call-snapshot.js';
import type { StoredEvent } from '../event-log.port.js';
import { FIRST_EPOCH, readEntry, seqOf, toStoredEvent, type StreamEntry } from '../stream/stored-event.js';
import type { LogArchive } from './log-archive.port.js';
import type { PartitionLog } from './partition-log.js';
import { eventSeqs } from './update-index.js';

/** Most entries of other calls between two events of a call that are still read as one range. */
const MAX_GAP = 4;

/** Places of the events of a call. `seqs`: all of them, oldest first; undefined if only a scan of the partition finds them. */
export interface LocatedCall {
  readonly snapshot: CallState;
  readonly epoch: number;
  readonly seqs: readonly number[] | undefined;
}

/** Consecutive events of a call: all after the requested place, up to and with `seq`. */
export interface EventRound {
  readonly events: readonly StoredEvent[];
  readonly seq: number;
  /** Number of entries of the partition that were read for it. */
  readonly entriesRead: number;
}

/** Reads the events of one call at the cost of that call, however many calls share its partition. */
export class CallEventReader {
  constructor(
    private readonly log: PartitionLog,
    private readonly archive?: LogArchive,
  ) {}

  /** Makes one round trip, unless the call has left Redis. Undefined for an unknown call. */
  async locate(callId: string): Promise<LocatedCall | undefined> {
    const callKeys = [keys.call(callId), keys.updateIndex(callId), keys.epoch(partitionOf(callId))];
    const [packed, index, epoch] = await this.log.redis.mgetBuffer(...callKeys);
    const stored = packed ? { snapshot: packed, updateIndex: index ?? Buffer.alloc(0) } : await this.archive?.call(callId);
    if (stored === undefined) return undefined;
    const snapshot = decodeSnapshot(callId, stored.snapshot);
    return { snapshot, epoch: Number(epoch ?? FIRST_EPOCH), seqs: eventSeqs(snapshot, stored.updateIndex) };
  }

  /** At most `count` events after `afterSeq`. Falls back to a scan, whose round may contain no event and still advance. */
  async after(call: LocatedCall, afterSeq: number, count: number): Promise<EventRound> {
    return (await this.byIndex(call, afterSeq, call.snapshot.lastSeq, count)) ?? this.byScan(call, afterSeq);
  }

  /**
   * At most `count` events after `afterSeq` and up to `toSeq`. Undefined if the index lacks an event, or if an entry at an
   * indexed place is not of this call or has another version than its place.
   */
  async byIndex({ snapshot, epoch, seqs }: LocatedCall, afterSeq: number, toSeq: number, count: number): Promise<EventRound | undefined> {
    if (seqs === undefined) return undefined;
    const first = countUpTo(seqs, afterSeq);
    const end = countUpTo(seqs, toSeq);
    const pageSeqs = seqs.slice(first, Math.min(first + count, end));
    const entries = await this.readRanges(partitionOf(snapshot.callId), rangesOf(pageSeqs));
    const own = entries.filter(([, fields]) => readEntry(fields).callId === snapshot.callId);
    const isComplete =
      own.length === pageSeqs.length &&
      own.every(([entryId, fields], at) => seqOf(entryId) === pageSeqs[at] && Number(readEntry(fields).version) === first + at + 1);
    if (!isComplete) return undefined;
    const seq = first + pageSeqs.length < end ? (pageSeqs.at(-1) ?? toSeq) : toSeq;
    return { events: toEvents(own, snapshot.callId, epoch), seq, entriesRead: entries.length };
  }

  /** Reads one page of the partition, without the events of other calls. */
  private async byScan({ snapshot, epoch }: LocatedCall, afterSeq: number): Promise<EventRound> {
    const { callId, lifecycleSeqs, lastSeq } = snapshot;
    const from = Math.max(afterSeq + 1, lifecycleSeqs[0] ?? 1);
    const entries = await this.log.range(partitionOf(callId), from, lastSeq, SCAN_ENTRIES);
    const own = entries.filter(([, fields]) => readEntry(fields).callId === callId);
    const last = entries.at(-1);
    const seq = last === undefined ? lastSeq : seqOf(last[0]);
    return { events: toEvents(own, callId, epoch), seq, entriesRead: entries.length };
  }

  private async readRanges(partition: string, ranges: readonly Range[]): Promise<StreamEntry[]> {
    const read = () => Promise.all(ranges.map(({ from, to }) => this.log.range(partition, from, to)));
    return (await writeTogether(this.log.redis, read)).flat();
  }
}

/** Entries of the partition in one round of a scan. */
export const SCAN_ENTRIES = 500;

interface Range {
  readonly from: number;
  to: number;
}

function rangesOf(seqs: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const seq of seqs) {
    const last = ranges.at(-1);
    if (last !== undefined && seq - last.to <= MAX_GAP + 1) last.to = seq;
    else ranges.push({ from: seq, to: seq });
  }
  return ranges;
}

/** Number of the ascending `seqs` up to `limit`. */
function countUpTo(seqs: readonly number[], limit: number): number {
  const next = seqs.findIndex((seq) => seq > limit);
  return next < 0 ? seqs.length : next;
}

/** Leaves out events of unknown types. */
function toEvents(entries: readonly StreamEntry[], callId: string, epoch: number): StoredEvent[] {
  return entries.flatMap(([entryId, fields]) => toStoredEvent(partitionOf(callId), epoch, entryId, fields) ?? []);
}
