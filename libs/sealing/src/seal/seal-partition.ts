import {
  droppedSeq,
  findSegment,
  lastSegment,
  loadSegment,
  SEGMENT_LIMITS,
  sealSegment,
  storeSegment,
  storeVerified,
  type ArchiveStore,
  type Manifest,
} from '#archive';
import {
  FIRST_EPOCH,
  fingerprintOf,
  PartitionLog,
  readEntry,
  seqOf,
  toEntry,
  toTailedEvent,
  type StoredEvent,
  type StreamEntry,
} from '#event-log';
import { keys, type RedisConnection } from '#redis';
import { endedCallsName, lateEndName } from '../archive-names.js';
import { decodeEndedCalls, encodeEndedCalls, type EndedCall } from '../ended-calls.js';
import { SealingFault } from '../sealing-fault.js';
import type { ContentPolicy } from '../content/content-keys.port.js';
import { openContent, PLAIN_CONTENT } from '../content/segment-content.js';
import { markSealed, propose, readPosition, resetPosition, type Proposal } from './archive-position.js';
import { readEndedCalls, type SealedCall } from './read-ended-calls.js';
import { keysOf, type SegmentKeys } from '../segment-keys.js';

/** Summary of a sealed segment, for users that do not read it. */
export interface SealedPart {
  readonly manifest: Manifest;
  readonly endedCalls: number;
  /** Absent for a segment that this process has not sealed. */
  readonly keys?: SegmentKeys;
}

/**
 * Writes the log of one partition into the archive, segment by segment. The position is in Redis; the archive decides if they
 * differ. Several processes may run at once: they agree on each segment before they write it, and write the same bytes.
 */
export class PartitionSealer {
  private readonly log: PartitionLog;
  private last: Manifest | undefined;
  /** End of the archive, which the chain continues, even if a new generation replaces it. */
  private newest: Manifest | undefined;
  private generation = 1;
  private aligned = false;
  /** First unsealed event, if a step found it too young. */
  private waiting: { readonly seq: number; readonly time: number } | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly store: ArchiveStore,
    readonly partition: string,
    private readonly content?: ContentPolicy,
  ) {
    this.log = new PartitionLog(redis);
  }

  /** Makes the next step compare with the archive, after another process may have sealed. */
  forget(): void {
    this.aligned = false;
  }

  /** True if a step may have something to do after `sealedSeq`. Reads one number from Redis. */
  async isDue(sealedSeq: number, maxAgeMs: number, nowMs: number): Promise<boolean> {
    if (!this.aligned || (this.last?.toSeq ?? 0) !== sealedSeq) return true;
    const end = await this.log.end(this.partition);
    if (end <= sealedSeq) return false;
    const isTooYoung = this.waiting?.seq === sealedSeq + 1 && this.waiting.time > nowMs - maxAgeMs;
    return end - sealedSeq >= SEGMENT_LIMITS.events || !isTooYoung;
  }

  /**
   * Seals the next segment if it is full, or if its first event is older than `maxAgeMs`; else undefined.
   *
   * @throws SealingFault if log and archive are inconsistent
   */
  async step(maxAgeMs: number, nowMs: number): Promise<SealedPart | undefined> {
    if (!this.aligned) await this.align();
    const after = this.last?.toSeq ?? 0;
    const end = await this.log.end(this.partition);
    if (end <= after) return undefined;
    if (end - after < SEGMENT_LIMITS.events) {
      const [first] = await this.log.range(this.partition, after + 1, end, 1);
      this.waiting = first && { seq: after + 1, time: timeOf(first) };
      if (first === undefined || timeOf(first) > nowMs - maxAgeMs) return undefined;
    }
    const entries = await this.readNext(after, Math.min(end, after + SEGMENT_LIMITS.events));
    const proposal = { end: seqOf(entries.at(-1)?.[0] ?? '0'), encrypts: this.content?.tenants() ?? [] };
    const agreement = await propose(this.redis, this.partition, after, proposal);
    if (agreement === undefined) {
      this.forget();
      return undefined;
    }
    return this.seal(after, agreement.end === after + entries.length ? entries : await this.readDense(after, agreement.end), agreement);
  }

  private async seal(after: number, entries: readonly StreamEntry[], { encrypts, encrypted }: Proposal): Promise<SealedPart> {
    const epoch = Number((await this.redis.get(keys.epoch(this.partition))) ?? FIRST_EPOCH);
    const events = entries.map((entry) => this.toEvent(epoch, entry));
    const content = encrypted ? await openContent(this.content?.keys, events, encrypts) : PLAIN_CONTENT;
    const { partition, generation } = this;
    const previous = this.newest;
    const archived = events.map((event) => content.archived(event));
    const sealed = sealSegment({ partition, generation, epoch, previous, events: archived });
    const calls = await readEndedCalls({ log: this.log, store: this.store, content, segment: sealed.manifest }, events);
    await storeVerified(this.store, endedCallsName(sealed.manifest), encodeEndedCalls(calls), (stored) => holdsAll(stored, calls));
    await this.storeLateEnds(calls, this.last?.fromSeq ?? sealed.manifest.fromSeq, sealed.manifest);
    const manifest = await storeSegment(this.store, sealed);
    await markSealed(this.redis, partition, after, manifest.toSeq);
    [this.last, this.newest] = [manifest, manifest];
    return { manifest, endedCalls: calls.length, keys: keysOf(calls, new Set(events.map(({ callId }) => callId))) };
  }

  /** Stores references for calls that ended later than the segment after their submission, where readers would not search. */
  private async storeLateEnds(calls: readonly SealedCall[], near: number, { toSeq }: Manifest): Promise<void> {
    for (const { id, earlierSeqs } of calls) {
      const [submitted = near] = earlierSeqs;
      if (submitted < near) await storeVerified(this.store, lateEndName(id), Buffer.from(String(toSeq)), isNumber);
    }
  }

  /** Entries after `after`, to `to`; fewer if their text is too large for a segment. */
  private async readNext(after: number, to: number): Promise<StreamEntry[]> {
    const entries = await this.readDense(after, to);
    let bytes = 0;
    const tooMuch = entries.findIndex(([, fields]) => (bytes += fields.reduce((sum, text) => sum + text.length, 0)) > SEGMENT_LIMITS.bytes);
    return tooMuch < 0 ? entries : entries.slice(0, Math.max(1, tooMuch));
  }

  private async readDense(after: number, to: number): Promise<StreamEntry[]> {
    const entries = await this.log.range(this.partition, after + 1, to);
    const hole = entries.findIndex(([id], index) => seqOf(id) !== after + 1 + index);
    const missing = hole >= 0 ? after + 1 + hole : after + 1 + entries.length;
    if (missing <= to)
      throw new SealingFault(
        `the log of partition ${this.partition} has no event ${missing}, which is not archived: was it trimmed by hand?`,
      );
    return entries;
  }

  /** Event with its text composed, since several steps read it. */
  private toEvent(epoch: number, [id, fields]: StreamEntry): StoredEvent {
    const event = toTailedEvent(this.partition, epoch, id, fields);
    if (event === undefined)
      throw new SealingFault(`event ${seqOf(id)} of partition ${this.partition} is of a newer release: update the process that archives`);
    const { partition, seq, callId, type, time, meta, size, json } = event;
    return { partition, epoch, seq, callId, type, time, meta, size, json };
  }

  /** Compares the end of the archive with the log. If Redis lost archived events, a new generation begins before them. */
  private async align(): Promise<void> {
    const stored = await readPosition(this.redis, this.partition);
    const newest = await lastSegment(this.store, this.partition);
    const lastValid = newest && (await this.lastInLog(newest));
    if ((lastValid?.toSeq ?? 0) < stored.trimmedSeq)
      throw new SealingFault(
        `partition ${this.partition} was trimmed up to event ${stored.trimmedSeq}, but the archive ${this.store.label} ends at ${lastValid?.toSeq ?? 0}: check ARCHIVE_URL`,
      );
    const generation = lastValid === newest ? Math.max(newest?.generation ?? 1, stored.generation) : (newest?.generation ?? 1) + 1;
    if (stored.sealedSeq !== (lastValid?.toSeq ?? 0) || stored.generation !== generation)
      await resetPosition(this.redis, this.partition, lastValid?.toSeq ?? 0, generation);
    [this.last, this.newest, this.generation, this.aligned] = [lastValid, newest, generation, true];
  }

  /**
   * Newest segment whose last event is in the log or was trimmed from it. After Redis lost trimmed events, a dropped segment
   * does not count.
   */
  private async lastInLog(newest: Manifest): Promise<Manifest | undefined> {
    const { trimmedSeq } = await readPosition(this.redis, this.partition);
    if (newest.toSeq <= trimmedSeq) return newest;
    const dropped = await droppedSeq(this.store, this.partition);
    let segment: Manifest | undefined = newest;
    while (segment !== undefined && segment.toSeq > trimmedSeq) {
      if (segment.toSeq <= dropped) return undefined;
      if (await this.isInLog(segment)) return segment;
      segment = segment.fromSeq === 1 ? undefined : await findSegment(this.store, this.partition, segment.fromSeq - 1);
    }
    return segment;
  }

  private async isInLog(segment: Manifest): Promise<boolean> {
    const [stored] = await this.log.range(this.partition, segment.toSeq, segment.toSeq);
    if (stored === undefined) return false;
    const { events } = await loadSegment(this.store, segment);
    const archived = events.at(-1);
    return archived !== undefined && fingerprintOf(stored[1]) === fingerprintOf(toEntry(archived)[1]);
  }
}

function timeOf([, fields]: StreamEntry): number {
  return Number(readEntry(fields).timeText);
}

/** True for the same calls, of which an earlier attempt may have stored values that have expired since. */
function holdsAll(stored: Buffer, calls: readonly EndedCall[]): boolean {
  try {
    const storedCalls = decodeEndedCalls(stored);
    return storedCalls.size === calls.length && calls.every(({ id, snapshot }) => storedCalls.get(id)?.snapshot.equals(snapshot) === true);
  } catch {
    return false;
  }
}

/** True for a reference to a segment: after a loss in Redis an earlier generation may refer to another one. */
function isNumber(stored: Buffer): boolean {
  return /^\d+$/.test(stored.toString());
}
