import type { ArchiveStore } from '#archive';
import { decodeSnapshot, PartitionLog, toStoredEvent, upcastEvent } from '#event-log';
import { keys, partitionOf, type RedisConnection } from '#redis';
import { valueName } from '../archive-names.js';
import type { ContentKeys } from '../content/content-keys.port.js';
import { ArchivedLog, type FoundCall } from '../read/archived-log.js';
import { readPosition, requestErase } from '../seal/archive-position.js';
import type { CallOwner } from '../retain/retention-rule.js';
import { blobRefsOf } from './call-blobs.js';

/** Requested erasure of a call. */
export interface OpenErasure {
  readonly callId: string;
  readonly tenantId: string;
  readonly lastSeq: number;
}

/** Store of erasures and their results. */
export interface Erasures {
  /** Oldest first, at most `limit`. */
  open(limit: number): Promise<readonly OpenErasure[]>;
  deleteKey(callId: string): Promise<void>;
  complete(callId: string): Promise<void>;
  /** Records a fault; the erasure is not retried. */
  fail(callId: string, fault: string): Promise<void>;
}

export interface EraserOptions {
  readonly redis: RedisConnection;
  readonly store: ArchiveStore;
  readonly keys: ContentKeys;
  readonly erasures: Erasures;
  /** True if a legal hold covers the call now, or without an owner the whole tenant. An error stops the round. */
  readonly holds: () => (tenantId: string, owner?: CallOwner) => boolean;
}

const BATCH = 500;
const NOT_ENCRYPTED =
  'the process that archives did not encrypt the call: its TOOLYARD_CONFIG must set tenants.*.retention.erasable before the call is archived';

/**
 * Completes requested erasures, one call after the other. Several may run; each step is safe to repeat.
 *
 * 1. wait until the events of the call are archived and have left Redis; request that from the archiver at once 2. remove all
 * other keys of the call from Redis 3. remove its large values from the archive 4. delete its key 5. record the completion
 */
export class Eraser {
  private readonly archived: ArchivedLog;
  private readonly log: PartitionLog;

  constructor(private readonly options: EraserOptions) {
    this.archived = new ArchivedLog(options.store, options.keys);
    this.log = new PartitionLog(options.redis, this.archived);
  }

  /** Tries each open erasure once; returns the number of completed ones. */
  async round(signal?: AbortSignal): Promise<number> {
    const { erasures, holds } = this.options;
    const open = await erasures.open(BATCH);
    if (open.length === 0) return 0;
    const isHeld = holds();
    let done = 0;
    for (const erasure of open) {
      if (signal?.aborted === true) break;
      if (!isHeld(erasure.tenantId) && (await this.erase(erasure, isHeld))) done += 1;
    }
    return done;
  }

  private async erase({ callId, tenantId, lastSeq }: OpenErasure, isHeld: ReturnType<EraserOptions['holds']>): Promise<boolean> {
    const { redis, erasures } = this.options;
    const { trimmedSeq } = await readPosition(redis, partitionOf(callId));
    if (trimmedSeq < lastSeq) {
      await requestErase(redis, partitionOf(callId), lastSeq);
      return false;
    }
    if (lastSeq <= (await this.archived.droppedSeq(partitionOf(callId)))) {
      // Retention has already deleted the call.
      await erasures.complete(callId);
      return true;
    }
    const key = (await this.options.keys.read([callId])).get(callId);
    const found = await this.archived.endedCall(callId);
    if (key === undefined) {
      await erasures.fail(callId, NOT_ENCRYPTED);
      return false;
    }
    if (found === undefined || isHeld(tenantId, decodeSnapshot(callId, found.call.snapshot).meta)) return false;
    await this.removeCopies(callId, found);
    await erasures.deleteKey(callId);
    await erasures.complete(callId);
    return true;
  }

  private async removeCopies(callId: string, { call, segment }: FoundCall): Promise<void> {
    const { redis, store } = this.options;
    const entries = await this.log.entries(partitionOf(callId), decodeSnapshot(callId, call.snapshot).lifecycleSeqs);
    const events = entries.flatMap(([id, fields]) => toStoredEvent(partitionOf(callId), 1, id, fields) ?? []);
    const blobs = blobRefsOf(events.map(({ json }) => upcastEvent(json))).map((ref) => keys.blob(callId, ref));
    await redis.unlink(keys.call(callId), keys.updateIndex(callId), keys.agentJournal(callId), ...blobs);
    for (const sha256 of Object.values(call.values)) await store.delete(valueName(segment, sha256));
  }
}
