import { Inject, Injectable } from '@nestjs/common';
import { BATCH_LIMITS, ProblemError, type BatchCallBody, type BatchStop, type SessionMessage, SteeringMessage } from '#contracts';
import { keys, partitionGroups, partitionNames, partitionOf, partitionOfRoot, type RedisConnection } from '#redis';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { SessionRoom } from '../sessions/session-room.service.js';
import type { DeferredApproval } from '../approvals/approval-deferrals.service.js';
import { BatchDefinition, fieldOf, progressOf, recordOf, type BatchProgress, type BatchRecord } from './batch-record.js';
import {
  createScript,
  finishScript,
  holdScript,
  queueSteeringScript,
  steeringBytesScript,
  steerScript,
  stopScript,
  sweepScript,
} from './batch-scripts.js';

/** Lifetime of an ended batch and of a message without a batch, the same as for large values of calls. */
export const KEPT_SECONDS = 7 * 24 * 3600;
/** Lifetime of an Idempotency-Key, the same as for calls. */
const IDEMPOTENCY_SECONDS = 24 * 3600;
/** Lease of a gateway on a batch. */
export const LEASE_MS = 6_000;

/** Topic of messages about released batches, which another gateway may adopt. */
export const RELEASED = 'released-batches';

/** Bytes of a batch besides its texts. */
const ENTRY_BYTES = 1_024;
const RETRY_MS = 5_000;

export interface BatchIdempotency {
  readonly scopedKey: string;
  readonly requestSha256: string;
}

/**
 * Batches and messages of people in Redis. Every method fails at once while Redis is unreachable, and may be repeated. Writes
 * that are acknowledged to a client (`create`, `stop`, `hold`, `queueSteering`) wait for replicas if DURABILITY requires it.
 */
@Injectable()
export class BatchStore {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly durable: DurableWrites,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    private readonly room: SessionRoom,
  ) {}

  /**
   * Creates a batch with a lease of the caller; durable on return. Undefined, or the earlier batch of the idempotency key.
   * @throws ProblemError `quota_exceeded` if the open batches of the tenant have too many bytes
   */
  async create(
    doc: BatchDefinition,
    calls: readonly BatchCallBody[],
    idempotency: BatchIdempotency | undefined,
  ): Promise<{ id: string; same: boolean } | undefined> {
    const partition = partitionOf(doc.id);
    const idempotencyKey = keys.idempotency(partition, doc.principal.tenantId, idempotency?.scopedKey ?? '');
    const [docText, callsText, most] = [JSON.stringify(doc), JSON.stringify(calls), this.config.tenantBatchBytes];
    const bytes = Buffer.byteLength(docText) + Buffer.byteLength(callsText) + ENTRY_BYTES;
    const requestSha256 = idempotency?.requestSha256 ?? '';
    const names = [keys.batch(doc.id), keys.batches(partition), idempotencyKey, keys.tenantBatches(partition, doc.principal.tenantId)];
    const args = [doc.id, docText, callsText, LEASE_MS, requestSha256, IDEMPOTENCY_SECONDS, bytes, most];
    const before = String(await this.durable.run(createScript, names, args));
    if (before === '') return undefined;
    if (before === 'full') throw new ProblemError('quota_exceeded', tooManyBytes(most), { retryAfterMs: RETRY_MS });
    const [sha256, id = ''] = before.split(' ');
    return { id, same: sha256 === idempotency?.requestSha256 };
  }

  /** Undefined if the batch does not exist, or no longer. */
  async load(id: string): Promise<BatchRecord | undefined> {
    return recordOf(await this.redis.hgetall(keys.batch(id)));
  }

  /** True also for a batch that is no longer stored. */
  async hasEnded(id: string): Promise<boolean> {
    const [at, ended] = await this.redis.hmget(keys.batch(id), 'at', 'ended');
    return at === null || ended !== null;
  }

  /** Progress without the large parts. `approvable`: calls whose approval may be deferred. */
  async progress(id: string, approvable: readonly string[]): Promise<BatchProgress> {
    const names = ['stop', 'ended', ...approvable.map(fieldOf.deferred)];
    const values = await this.redis.hmget(keys.batch(id), ...names);
    return progressOf(Object.fromEntries(names.flatMap((name, n) => (typeof values[n] === 'string' ? [[name, values[n]]] : []))));
  }

  async saveCallIds(id: string, callIds: readonly (readonly [number, string])[]): Promise<void> {
    if (callIds.length === 0) return;
    await this.redis.hset(keys.batch(id), Object.fromEntries(callIds.map(([index, callId]) => [fieldOf.call(index), callId])));
  }

  /** True if this reason counts from now on. Notifies also if the write was not replicated. */
  async stop(id: string, stop: BatchStop): Promise<boolean> {
    try {
      return (await this.durable.run(stopScript, [keys.batch(id)], [JSON.stringify(stop)])) === 1;
    } finally {
      await this.notify(id);
    }
  }

  /** Resolves once earlier writes to the batch are durable. */
  confirm(id: string): Promise<void> {
    return this.durable.confirm(keys.batch(id));
  }

  /** Moves the waiting messages to the batch, which they stop. False if there are none. */
  async steer(doc: BatchDefinition, stop: BatchStop): Promise<boolean> {
    return (await steerScript.run(this.redis, [keys.batch(doc.id), this.steeringOf(doc)], [JSON.stringify(stop)])) === 1;
  }

  /** Counts its messages of people for the tenant until the batch is deleted. `callIds`: ids of all its calls. */
  async finish(doc: BatchDefinition, callIds: readonly (readonly [number, string])[]): Promise<void> {
    const partition = partitionOf(doc.id);
    const open = keys.tenantBatches(partition, doc.principal.tenantId);
    const of = [keys.batch(doc.id), keys.batches(partition), this.steeringOf(doc), keys.endedBatches(partition), open];
    const ids = callIds.flatMap(([index, callId]) => [fieldOf.call(index), callId]);
    const bytes = Number(await finishScript.run(this.redis, of, [doc.id, keys.batchChannel(), KEPT_SECONDS, ...ids]));
    if (bytes === 0) return;
    await this.room.count(doc.principal.tenantId, doc.id, 'taken', { bytes, lifeMs: KEPT_SECONDS * 1_000, always: true });
  }

  /** Deletes the oldest batches of the partition that ended before this Redis time, at most `limit`. */
  async forgetEnded(partition: string, beforeMs: number, limit: number): Promise<void> {
    const ids = await this.redis.zrange(keys.endedBatches(partition), '-inf', `(${beforeMs}`, 'BYSCORE', 'LIMIT', 0, limit);
    if (ids.length === 0) return;
    await this.redis.unlink(...ids.map((id) => keys.batch(id)));
    await this.redis.zrem(keys.endedBatches(partition), ...ids);
  }

  /** False if the call was approved before. */
  async saveDeferredApproval(id: string, callId: string, approval: DeferredApproval): Promise<boolean> {
    try {
      return (await this.durable.run(holdScript, [keys.batch(id)], [fieldOf.deferred(callId), JSON.stringify(approval)])) === 1;
    } finally {
      await this.notify(id);
    }
  }

  /** All partitions, in groups whose keys one script may touch. */
  groups(): readonly (readonly string[])[] {
    return partitionGroups(this.redis, partitionNames(this.config.partitions));
  }

  /**
   * Renews the leases of `owned`, which are of these partitions, all in one group. Returns at most `limit` orphaned batches of
   * each partition, now owned by the caller, and the milliseconds until the next lease expires, Infinity for none.
   */
  async renewAndClaimOrphans(
    partitions: readonly string[],
    owned: readonly string[],
    limit: number,
  ): Promise<{ readonly orphans: readonly string[]; readonly expiryMs: number }> {
    const sets = partitions.map((partition) => keys.batches(partition));
    const renewed = owned.flatMap((id) => [partitions.indexOf(partitionOf(id)) + 1, id]);
    const found = await sweepScript.run(this.redis, sets, [LEASE_MS, limit, ...renewed]);
    const [expiryMs = '-1', ...orphans] = Array.isArray(found) ? found.map(String) : [];
    return { orphans, expiryMs: Number(expiryMs) < 0 ? Infinity : Number(expiryMs) };
  }

  /** True if the caller alone looks for orphans for `forMs` milliseconds. */
  async tryAcquireSweep(forMs: number): Promise<boolean> {
    return (await this.redis.set(keys.batchSweeper(), this.config.name, 'PX', forMs, 'NX')) === 'OK';
  }

  /** Releases a batch, which the next sweep of any gateway adopts. */
  async release(id: string): Promise<void> {
    await this.redis.zadd(keys.batches(partitionOf(id)), 'XX', '0', id);
    await this.notify(RELEASED);
  }

  /** Batches of a session that have not ended. */
  async runningOf(tenantId: string, sessionId: string): Promise<string[]> {
    const ids = await this.redis.zrange(keys.batches(this.partitionOf(tenantId, sessionId)), '0', '-1');
    const docs = await Promise.all(ids.map((id) => this.redis.hget(keys.batch(id), 'doc')));
    return docs.flatMap((text) => {
      const doc = text === null ? undefined : BatchDefinition.parse(JSON.parse(text));
      return doc?.sessionId === sessionId && doc.principal.tenantId === tenantId ? [doc.id] : [];
    });
  }

  /** `waiting`: number of waiting messages; 0 if there is no room. `bytes`: as `steeringBytes`. */
  async queueSteering(tenantId: string, sessionId: string, message: SteeringMessage): Promise<{ waiting: number; bytes: number }> {
    const args = [JSON.stringify(message), BATCH_LIMITS.steeringMessages, KEPT_SECONDS];
    const answer = await this.durable.run(queueSteeringScript, this.steeringKeys(tenantId, sessionId), args);
    const [waiting, bytes] = Array.isArray(answer) ? answer.map(Number) : [];
    return { waiting: waiting ?? 0, bytes: bytes ?? 0 };
  }

  /** Last messages of people to a session, oldest first. */
  async steeringOfSession(tenantId: string, sessionId: string): Promise<SessionMessage[]> {
    const [waitingKey, lastKey] = this.steeringKeys(tenantId, sessionId);
    const [waiting, all] = await Promise.all([this.redis.lrange(waitingKey, '0', '-1'), this.redis.lrange(lastKey, '0', '-1')]);
    const untaken = new Set(waiting);
    return all.map((text) => ({ ...SteeringMessage.parse(JSON.parse(text)), taken: !untaken.has(text) }));
  }

  /** Bytes in Redis of the messages to a session: of the waiting and of the last ones. */
  async steeringBytes(tenantId: string, sessionId: string): Promise<number> {
    return Number(await steeringBytesScript.run(this.redis, this.steeringKeys(tenantId, sessionId), []));
  }

  /** Deletes the last messages of a session. Waiting messages remain for its next batch. */
  async forgetSteering(tenantId: string, sessionId: string): Promise<void> {
    await this.redis.del(keys.steered(this.partitionOf(tenantId, sessionId), tenantId, sessionId));
  }

  private steeringKeys(tenantId: string, sessionId: string): [waiting: string, last: string, bytes: string] {
    const partition = this.partitionOf(tenantId, sessionId);
    const { steering, steered, steeringBytes } = keys;
    return [
      steering(partition, tenantId, sessionId),
      steered(partition, tenantId, sessionId),
      steeringBytes(partition, tenantId, sessionId),
    ];
  }

  partitionOf(tenantId: string, sessionId: string): string {
    return partitionOfRoot(tenantId, sessionId, this.config.partitions);
  }

  /** Steering key of the batch's session. Without a session the key has an empty session id, for which no message can be queued. */
  private steeringOf({ id, principal, sessionId = '' }: BatchDefinition): string {
    return keys.steering(partitionOf(id), principal.tenantId, sessionId);
  }

  private async notify(topic: string): Promise<void> {
    await this.redis.publish(keys.batchChannel(), topic);
  }
}

function tooManyBytes(most: number): string {
  return `The batches of the tenant that have not ended have ${most} bytes together in a part of the log (TENANT_BATCH_BYTES), which is the most: wait until some end, or cancel some`;
}
