import { type Call, type CallEvent, ProblemError, Result } from '#contracts';
import { keys, LuaScript, partitionGroups, partitionOf, redisNow, type RedisConnection } from '#redis';
import { decodeSnapshot, type CallState } from '../call/call-snapshot.js';
import { parseTrustedJson } from '../call/trusted-json.js';
import { upcastEvent } from '../call/upcasters.js';
import type { StoredEvent } from '../event-log.port.js';
import { FIRST_EPOCH, toStoredEvent } from '../stream/stored-event.js';
import { encodeScalarCursor, decodeScalarCursor } from './cursor.js';
import { argumentRefs, BlobStore, type BlobRef } from './blob-store.js';
import { CallEventReader, SCAN_ENTRIES } from './call-event-reader.js';
import { foldCall, type StoredValues } from './fold-call.js';
import type { LogArchive } from './log-archive.port.js';
import { PartitionLog } from './partition-log.js';

const PAGE = 500;
/** Limits of one page of a call's events: entries of the partition that are read, and characters that are returned. */
const PAGE_ENTRIES = 20 * SCAN_ENTRIES;
const PAGE_CHARS = 2 * 1024 * 1024;
/** Events of a call in one read: at 8 KiB of data an event, at most about `PAGE_CHARS`. */
const ROUND_EVENTS = 250;

/**
 * KEYS: timers. ARGV: now, limit. Answers the earliest time after now, -1 for none, of the partitions without a due call, then
 * ids and times in turn.
 */
const LIST_DUE = new LuaScript(`#!lua flags=no-writes
local found, following = {'-1'}, nil
for _, key in ipairs(KEYS) do
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if first and tonumber(first) > tonumber(ARGV[1]) then
    if not following or tonumber(first) < following then following, found[1] = tonumber(first), first end
  elseif first then
    for _, value in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, ARGV[2])) do found[#found + 1] = value end
  end
end
return found`);

/** Calls whose timer is due. */
export interface DueCalls {
  readonly due: readonly { readonly callId: string; readonly score: number }[];
  /** Next time of a timer in a partition without a due call; Infinity for none. */
  readonly nextAt: number;
}

/** Events of a call, oldest first. With `nextCursor` there may be more, even if the page is short or empty. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly nextCursor?: string;
}

/** Reads calls from the log without writing. Every answer is as fresh as the log at the time of the request. */
export class CallStore {
  private readonly blobs: BlobStore;
  private readonly log: PartitionLog;
  private readonly callEvents: CallEventReader;

  /** `archive` has the calls that have left Redis. */
  constructor(
    private readonly redis: RedisConnection,
    private readonly archive?: LogArchive,
  ) {
    this.blobs = new BlobStore(redis, archive);
    this.log = new PartitionLog(redis, archive);
    this.callEvents = new CallEventReader(this.log, archive);
  }

  /** The cached fold of a call; undefined for an unknown call. */
  async snapshot(callId: string): Promise<CallState | undefined> {
    const packed = (await this.redis.getBuffer(keys.call(callId))) ?? (await this.archive?.call(callId))?.snapshot;
    return packed && decodeSnapshot(callId, packed);
  }

  /** The whole call with its large values; undefined for an unknown call. */
  async read(callId: string): Promise<Call | undefined> {
    const events = await this.lifecycle(callId);
    return events && foldCall(events, await this.valuesOf(callId, events));
  }

  /** Calls in the order of `callIds`. */
  readMany(callIds: readonly string[]): Promise<(Call | undefined)[]> {
    return Promise.all(callIds.map((callId) => this.read(callId)));
  }

  /**
   * A page of the call's events after `cursor`, the id of an event or the cursor of a page. Its cost and size are bounded,
   * however many calls share the partition. Throws `invalid_request` for an unreadable cursor, `conflict` for one of another
   * epoch.
   */
  async eventPage(callId: string, { cursor, limit }: { cursor?: string | undefined; limit: number }): Promise<EventPage> {
    const call = await this.callEvents.locate(callId);
    if (call === undefined) return { events: [] };
    const partition = Number(partitionOf(callId));
    const after = cursor === undefined ? undefined : decodeScalarCursor(cursor, partition);
    if (after !== undefined && after.epoch !== call.epoch)
      throw new ProblemError('conflict', 'Redis lost events after this cursor was given: read the events from the first one again');
    const page = (seq: number): EventPage => ({ events, nextCursor: encodeScalarCursor(partition, { epoch: call.epoch, seq }) });
    const events: StoredEvent[] = [];
    let seq = after?.seq ?? 0;
    let entriesLeft = PAGE_ENTRIES;
    let charsLeft = PAGE_CHARS;
    while (seq < call.snapshot.lastSeq) {
      if (events.length >= limit || entriesLeft <= 0 || charsLeft <= 0) return page(seq);
      const round = await this.callEvents.after(call, seq, Math.min(limit - events.length, ROUND_EVENTS));
      for (const event of round.events) {
        if (events.length >= limit || charsLeft <= 0) return page(event.seq - 1);
        events.push(event);
        charsLeft -= event.json.length;
      }
      entriesLeft -= round.entriesRead;
      seq = round.seq;
    }
    return { events };
  }

  /** All events of the call including Updates and Progress, oldest first; empty for an unknown call. */
  async events(callId: string, { afterSeq = 0, limit = Infinity }: { afterSeq?: number; limit?: number } = {}): Promise<StoredEvent[]> {
    const found: StoredEvent[] = [];
    const call = await this.callEvents.locate(callId);
    if (call === undefined) return found;
    for (let seq = afterSeq; seq < call.snapshot.lastSeq && found.length < limit;) {
      const round = await this.callEvents.after(call, seq, Math.min(limit - found.length, ROUND_EVENTS));
      found.push(...round.events.slice(0, limit - found.length));
      seq = round.seq;
    }
    return found;
  }

  /** A value stored beside the log; undefined if it never existed or has expired. */
  blob(callId: string, ref: BlobRef): Promise<Buffer | undefined> {
    return this.blobs.get(callId, ref);
  }

  /** Ids of the session's calls that have not ended. Reads all unfinished calls of the partition of the session, in pages. */
  async listOpen(partition: string, tenantId: string, sessionId: string): Promise<string[]> {
    const found = new Set<string>();
    let cursor = '0';
    do {
      const [next, flat] = await this.redis.zscan(keys.outbox(partition), cursor, 'COUNT', PAGE);
      const snapshots = await Promise.all(flat.filter((_, n) => n % 2 === 0).map((callId) => this.snapshot(callId)));
      for (const snapshot of snapshots) {
        if (snapshot && snapshot.status !== 'ended' && snapshot.meta.tenantId === tenantId && snapshot.meta.sessionId === sessionId)
          found.add(snapshot.callId);
      }
      cursor = next;
    } while (cursor !== '0');
    return [...found];
  }

  /** The clock of Redis, against which timers are compared: ms since 1970. */
  now(): Promise<number> {
    return redisNow(this.redis);
  }

  /** Calls whose timer is due at `now`: of each partition at most `limit`, longest overdue first. */
  async listDue(partitions: readonly string[], now: number, limit: number): Promise<DueCalls> {
    const timers = partitionGroups(this.redis, partitions).map((group) => group.map((partition) => keys.outbox(partition)));
    const replies = await Promise.all(timers.map((group) => LIST_DUE.run(this.redis, group, [now, limit])));
    const due: { callId: string; score: number }[] = [];
    let nextAt = Infinity;
    for (const reply of replies) {
      const [following = '-1', ...flat] = Array.isArray(reply) ? reply.map(String) : [];
      if (following !== '-1') nextAt = Math.min(nextAt, Number(following));
      for (let i = 0; i < flat.length; i += 2) due.push({ callId: flat[i] ?? '', score: Number(flat[i + 1]) });
    }
    return { due, nextAt };
  }

  /** Calls without their large values, in the order of `callIds`. */
  readSummaries(callIds: readonly string[]): Promise<(Call | undefined)[]> {
    return Promise.all(
      callIds.map(async (callId) => {
        const events = await this.lifecycle(callId);
        return events && foldCall(events);
      }),
    );
  }

  /** Events that the fold needs, read at the places in the snapshot: a few short reads, however many Updates there were. */
  private async lifecycle(callId: string): Promise<CallEvent[] | undefined> {
    const snapshot = await this.snapshot(callId);
    if (snapshot === undefined) return undefined;
    const partition = partitionOf(callId);
    const found = await this.log.entries(partition, snapshot.lifecycleSeqs);
    return found.flatMap(([entryId, fields]) => {
      const event = toStoredEvent(partition, FIRST_EPOCH, entryId, fields);
      return event ? [upcastEvent(event.json)] : [];
    });
  }

  private async valuesOf(callId: string, events: readonly CallEvent[]): Promise<StoredValues> {
    const ref = argumentsRefOf(events);
    const hasResult = events.some((event) => event.type === 'call.end' && event.data.resultRef !== undefined);
    if (ref === undefined && !hasResult) return {};
    const [args, result] = await Promise.all([
      ref === undefined ? undefined : this.blob(callId, ref),
      hasResult ? this.blob(callId, 'result') : undefined,
    ]);
    return {
      ...(args ? { arguments: parseTrustedJson<Call['arguments']>(args.toString('utf8')) } : {}),
      ...(result ? { result: Result.parse(JSON.parse(result.toString('utf8'))) } : {}),
    };
  }
}

/** Name of the stored arguments that run; undefined if they are in the events. */
function argumentsRefOf(events: readonly CallEvent[]): BlobRef | undefined {
  const edited = events
    .map((event) => (event.type === 'call.approval_decided' ? event.data.edited : undefined))
    .find((it) => it !== undefined);
  if (edited !== undefined) return edited.argumentsRef && argumentRefs({ ...edited, argumentsEdited: true }).shown;
  const [first] = events;
  return first?.type === 'call.submitted' && first.data.argumentsRef !== undefined ? 'arguments' : undefined;
}
