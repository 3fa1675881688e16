import { keys, noticeFailover, partitionName, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import { backoffMs } from '#timing';
import type { StoredEvent } from '../event-log.port.js';
import { fingerprintOf, seqOf, toTailedEvent, type StreamEntry } from '../stream/stored-event.js';
import type { Position } from '../read/cursor.js';
import { checkPositions, raiseEpoch, readTailPosition, type PositionCheck } from './log-tail-position.js';

/** Reason why subscribers of a partition must resync: the next events do not continue the previous ones. */
export type TailReset = 'log_rolled_back' | 'epoch_changed' | 'events_missing';

/** Events of one read of a partition, in log order, up to `seq`. */
export interface TailRead {
  readonly partition: number;
  readonly events: readonly StoredEvent[];
  readonly seq: number;
}

/** Methods are called synchronously and must not throw. */
export interface TailListener {
  onEvents(reads: readonly TailRead[]): void;
  onReset(partition: number, position: Position, reason: TailReset): void;
  /** A new epoch begins after the delivered events; none was lost. */
  onNewEpoch(partition: number, epoch: number): void;
}

export interface TailTiming {
  /** Most entries of a stream in one read. */
  readonly count: number;
  /** Wait of one XREAD for new entries. */
  readonly blockMs: number;
  /** Interval of checks that the log still has the last entry, besides after every reconnect. */
  readonly verifyMs: number;
}

interface TrackedPartition {
  readonly index: number;
  readonly name: string;
  readonly key: string;
  epoch: number;
  seq: number;
  fingerprint: string | undefined;
}

type XreadReply = readonly (readonly [key: string, entries: readonly StreamEntry[]])[] | null;

/** Time beyond `blockMs` after which a connection without an answer counts as dead. */
const ANSWER_SLACK_MS = 10_000;

/**
 * Reads some partitions' logs on a connection of its own, each entry once and in order, for ever: 1. wait for new entries
 * (XREAD from the last one read; `$` is resolved once, at the start); 2. after a reconnect and every `verifyMs`: check for a
 * new master (then a new epoch began) and that the last entry is still in the log; if not, begin a new epoch and report it; 3.
 * check that no sequence number is missing, fetch missing entries, and deliver all in one piece. Only a place is remembered
 * between two reads, so a lost connection neither loses nor doubles an entry.
 */
export class TailReader {
  private readonly partitions: readonly TrackedPartition[];
  private readonly byKey: ReadonlyMap<string, TrackedPartition>;
  private needsVerification = false;
  /** Time of the last verification, by `performance.now()`. */
  private verifiedAt = performance.now();
  private closed = false;
  private listener: TailListener = { onEvents: () => {}, onReset: () => {}, onNewEpoch: () => {} };
  private following = false;

  constructor(
    private readonly connection: RedisConnection,
    partitions: readonly number[],
    private readonly timing: TailTiming,
  ) {
    this.partitions = partitions.map((index) => {
      const name = partitionName(index);
      return { index, name, key: keys.log(name), epoch: 0, seq: 0, fingerprint: undefined };
    });
    this.byKey = new Map(this.partitions.map((place) => [place.key, place]));
    connection.on('ready', () => (this.needsVerification = true));
  }

  /** Finds the newest place of each partition; later entries will be read. Waits for Redis without limit. */
  async seekToEnd(): Promise<readonly { partition: number; position: Position }[]> {
    await Promise.all(this.partitions.map((place) => this.seekPartitionToEnd(place)));
    return this.partitions.map(({ index, epoch, seq }) => ({ partition: index, position: { epoch, seq } }));
  }

  follow(listener: TailListener): void {
    this.listener = listener;
    if (this.following) return;
    this.following = true;
    void this.run();
  }

  /**
   * Ends the delivery. Idempotent. Does not await the loop: ioredis never settles a command that waits for a reconnect which
   * `disconnect` cancels.
   */
  close(): void {
    this.closed = true;
    this.connection.disconnect();
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.closed) {
      try {
        const reply = await this.read();
        const due = this.needsVerification || performance.now() - this.verifiedAt >= this.timing.verifyMs;
        const moved = due && !this.closed ? await this.verify() : [];
        await this.publish(reply, moved);
        failures = 0;
      } catch {
        // The next read starts from the same places after any error (failover, restart, blocking script).
        this.needsVerification = true;
        if (!this.closed) await pause(backoffMs(++failures, { firstMs: 50, maxMs: 1_000 }));
      }
    }
  }

  /** Redis 7.0 answers a blocked command with one stream only: entries of other partitions come with the next read. */
  private async read(): Promise<XreadReply> {
    const { count, blockMs } = this.timing;
    const streams = [...this.partitions.map(({ key }) => key), ...this.partitions.map(({ seq }) => `${seq}-0`)];
    const dead = setTimeout(() => this.connection.disconnect(true), blockMs + ANSWER_SLACK_MS);
    try {
      return await this.connection.xread('COUNT', count, 'BLOCK', blockMs, 'STREAMS', ...streams);
    } finally {
      clearTimeout(dead);
    }
  }

  /**
   * Returns the places that had to be moved, whose next entries do not continue the previous ones. A Redis that refuses writes
   * is verified again after the next read, and read meanwhile.
   */
  private async verify(): Promise<readonly TrackedPartition[]> {
    this.needsVerification = false;
    await noticeFailover(
      this.connection,
      this.partitions.map(({ name }) => name),
    ).catch(() => (this.needsVerification = true));
    const checks = await checkPositions(this.connection, this.partitions);
    const moved = await Promise.all(this.partitions.map((place, index) => this.moved(place, checks[index])));
    this.verifiedAt = performance.now();
    return this.partitions.filter((_, index) => moved[index]);
  }

  private async moved(place: TrackedPartition, check: PositionCheck | undefined): Promise<boolean> {
    if (check === undefined || check.kind === 'there' || this.closed) return false;
    if (check.kind === 'other_epoch' && check.continues) {
      // Entries read meanwhile may be from the old master: they are read again.
      place.epoch = check.epoch;
      this.listener.onNewEpoch(place.index, check.epoch);
      return true;
    }
    if (check.kind === 'rolled_back') await raiseEpoch(this.connection, place.name, place.epoch);
    await this.seekPartitionToEnd(place);
    if (this.closed) return false;
    this.listener.onReset(
      place.index,
      { epoch: place.epoch, seq: place.seq },
      check.kind === 'rolled_back' ? 'log_rolled_back' : 'epoch_changed',
    );
    return true;
  }

  private async seekPartitionToEnd(place: TrackedPartition): Promise<void> {
    const { epoch, seq, fingerprint } = await readTailPosition(this.connection, place.name);
    Object.assign(place, { epoch, seq, fingerprint });
  }

  private async publish(reply: XreadReply, moved: readonly TrackedPartition[]): Promise<void> {
    if (reply === null) return;
    let reads: TailRead[] = [];
    for (const [key, entries] of reply) {
      const place = this.byKey.get(key);
      if (place === undefined || moved.includes(place)) continue;
      const { whole, missingBefore } = await this.repaired(place, entries);
      if (this.closed) return;
      if (missingBefore !== undefined) {
        this.emit(reads);
        reads = [];
        place.seq = missingBefore - 1;
        this.listener.onReset(place.index, { epoch: place.epoch, seq: place.seq }, 'events_missing');
      }
      reads.push(advance(place, whole));
    }
    this.emit(reads);
  }

  /** Entries without a gap before or between them; if a gap cannot be filled, only those after the last gap. */
  private async repaired(
    place: TrackedPartition,
    entries: readonly StreamEntry[],
  ): Promise<{ whole: readonly StreamEntry[]; missingBefore?: number }> {
    const fresh = entries.filter(([id]) => seqOf(id) > place.seq);
    const last = fresh.at(-1);
    if (last === undefined || isDense(place.seq, fresh)) return { whole: fresh };

    const again = await this.connection.xrange(place.key, `${place.seq + 1}-0`, last[0]);
    telemetry.tailGapRepaired.emit({ partition: place.name, events: again.length - fresh.length });
    if (isDense(place.seq, again)) return { whole: again };
    const start = again.findLastIndex(([id], index) => seqOf(id) !== (index === 0 ? place.seq : seqOf(again[index - 1]?.[0] ?? '')) + 1);
    return { whole: again.slice(start), missingBefore: seqOf(again[start]?.[0] ?? last[0]) };
  }

  private emit(reads: readonly TailRead[]): void {
    if (this.closed) return;
    const events = reads.reduce((sum, read) => sum + read.events.length, 0);
    this.listener.onEvents(reads);
    if (events === 0) return;
    const oldest = Math.min(...reads.map((read) => read.events[0]?.time ?? Infinity));
    telemetry.tailDelivered.emit({ events, lagMs: Math.max(0, Date.now() - oldest) });
  }
}

function advance(place: TrackedPartition, entries: readonly StreamEntry[]): TailRead {
  const events: StoredEvent[] = [];
  for (const [id, fields] of entries) {
    const event = toTailedEvent(place.name, place.epoch, id, fields);
    if (event) events.push(event);
  }
  const last = entries.at(-1);
  if (last) {
    place.seq = seqOf(last[0]);
    place.fingerprint = fingerprintOf(last[1]);
  }
  return { partition: place.index, events, seq: place.seq };
}

function isDense(after: number, entries: readonly StreamEntry[]): boolean {
  return entries.every(([id], index) => seqOf(id) === after + 1 + index);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
