import { Inject, Injectable } from '@nestjs/common';
import { BATCH_LIMITS, ProblemError, type BatchCallBody, type BatchStop, type SessionMessage, SteeringMessage } from '#contracts';
import { keys, partitionGroups, partitionNames, partitionOf, partitionOfRoot, type RedisConnection } from '#redis';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
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

/** How long an ended batch, and a message that no batch takes, are kept: as long as large values of calls. */
export const KEPT_SECONDS = 7 * 24 * 3600;
/** How long an Idempotency-Key is remembered: as for calls. */
const IDEMPOTENCY_SECONDS = 24 * 3600;
/** How long a gateway looks after a batch without saying so again. */
export const LEASE_MS = 6_000;

/** Bytes of each batch besides its texts. */
const ENTRY_BYTES = 1_024;
const RETRY_MS = 5_000;

export interface BatchIdempotency {
  readonly scopedKey: string;
  readonly requestSha256: string;
}

/**
 * Batches and messages of people in Redis. Every method fails at once while Redis is out of reach, and may be repeated. What
 * is acknowledged to a client (`create`, `stop`, `hold`, `queueSteering`) waits for replicas where DURABILITY says so.
 */
@Injectable()
export class BatchStore {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly durable: DurableWrites,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  /**
   * Durable when it resolves; looked after by the caller for a lease. Undefined, or the batch that had the idempotency key before.
   * @throws ProblemError `quota_exceeded` when the open batches of the tenant have too many bytes
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

  /** Undefined when there is no such batch, or none any more. */
  async load(id: string): Promise<BatchRecord | undefined> {
    return recordOf(await this.redis.hgetall(keys.batch(id)));
  }

  /** True also when it is not kept any more. */
  async hasEnded(id: string): Promise<boolean> {
    const [at, ended] = await this.redis.hmget(keys.batch(id), 'at', 'ended');
    return at === null || ended !== null;
  }

  /** Without the large parts. `askedFor` are the calls about which a person may have said yes. */
  async progress(id: string, askedFor: readonly string[]): Promise<BatchProgress> {
    const names = ['stop', 'ended', ...askedFor.map(fieldOf.held)];
    const values = await this.redis.hmget(keys.batch(id), ...names);
    return progressOf(Object.fromEntries(names.flatMap((name, n) => (typeof values[n] === 'string' ? [[name, values[n]]] : []))));
  }

  async saveCallIds(id: string, callIds: readonly (readonly [number, string])[]): Promise<void> {
    if (callIds.length === 0) return;
    await this.redis.hset(keys.batch(id), Object.fromEntries(callIds.map(([index, callId]) => [fieldOf.call(index), callId])));
  }

  /** True when this stopped the batch. Notifies also when it was written and not replicated. */
  async stop(id: string, stop: BatchStop): Promise<boolean> {
    try {
      return (await this.durable.run(stopScript, [keys.batch(id)], [JSON.stringify(stop)])) === 1;
    } finally {
      await this.notify(id);
    }
  }

  /** What was written to the batch before is durable when it resolves. */
  confirm(id: string): Promise<void> {
    return this.durable.confirm(keys.batch(id));
  }

  /** Hands the messages that wait to the batch, which they stop. False when there are none. */
  async steer(doc: BatchDefinition, stop: BatchStop): Promise<boolean> {
    return (await steerScript.run(this.redis, [keys.batch(doc.id), this.steeringOf(doc)], [JSON.stringify(stop)])) === 1;
  }

  /** `callIds`: of all its calls. */
  async finish(doc: BatchDefinition, callIds: readonly (readonly [number, string])[]): Promise<void> {
    const partition = partitionOf(doc.id);
    const open = keys.tenantBatches(partition, doc.principal.tenantId);
    const of = [keys.batch(doc.id), keys.batches(partition), this.steeringOf(doc), keys.endedBatches(partition), open];
    await finishScript.run(this.redis, of, [
      doc.id,
      keys.batchChannel(),
      KEPT_SECONDS,
      ...callIds.flatMap(([index, callId]) => [fieldOf.call(index), callId]),
    ]);
  }

  /** Forgets the oldest batches of the partition that ended before this Redis time, at most `limit` of them. */
  async forgetEnded(partition: string, beforeMs: number, limit: number): Promise<void> {
    const ids = await this.redis.zrange(keys.endedBatches(partition), '-inf', `(${beforeMs}`, 'BYSCORE', 'LIMIT', 0, limit);
    if (ids.length === 0) return;
    await this.redis.unlink(...ids.map((id) => keys.batch(id)));
    await this.redis.zrem(keys.endedBatches(partition), ...ids);
  }

  /** False when the call was approved before. */
  async saveDeferredApproval(id: string, callId: string, approval: DeferredApproval): Promise<boolean> {
    try {
      return (await this.durable.run(holdScript, [keys.batch(id)], [fieldOf.held(callId), JSON.stringify(approval)])) === 1;
    } finally {
      await this.notify(id);
    }
  }

  /** All partitions, in groups of which one script may touch the keys. */
  groups(): readonly (readonly string[])[] {
    return partitionGroups(this.redis, partitionNames(this.config.partitions));
  }

  /**
   * Renews the leases of `owned`, all of these partitions, which are a group. Returns at most `limit` orphaned batches of each, which
   * the caller owns now.
   */
  async renewAndClaimOrphans(partitions: readonly string[], owned: readonly string[], limit: number): Promise<string[]> {
    const sets = partitions.map((partition) => keys.batches(partition));
    const renewed = owned.flatMap((id) => [partitions.indexOf(partitionOf(id)) + 1, id]);
    const found = await sweepScript.run(this.redis, sets, [LEASE_MS, limit, ...renewed]);
    return Array.isArray(found) ? found.map(String) : [];
  }

  /** True when the caller is the only one to look for orphans for `forMs`. */
  async tryAcquireSweep(forMs: number): Promise<boolean> {
    return (await this.redis.set(keys.batchSweeper(), this.config.name, 'PX', forMs, 'NX')) === 'OK';
  }

  /** Gives up a batch; the next sweep of any gateway takes it. */
  async release(id: string): Promise<void> {
    await this.redis.zadd(keys.batches(partitionOf(id)), 'XX', '0', id);
  }

  /** The batches of a session that have not ended. */
  async runningOf(tenantId: string, sessionId: string): Promise<string[]> {
    const ids = await this.redis.zrange(keys.batches(this.partitionOf(tenantId, sessionId)), '0', '-1');
    const docs = await Promise.all(ids.map((id) => this.redis.hget(keys.batch(id), 'doc')));
    return docs.flatMap((text) => {
      const doc = text === null ? undefined : BatchDefinition.parse(JSON.parse(text));
      return doc?.sessionId === sessionId && doc.principal.tenantId === tenantId ? [doc.id] : [];
    });
  }

  /** `waiting`: how many wait now; 0 when there is no room. `bytes`: as `steeringBytes`. */
  async queueSteering(tenantId: string, sessionId: string, message: SteeringMessage): Promise<{ waiting: number; bytes: number }> {
    const args = [JSON.stringify(message), BATCH_LIMITS.steeringMessages, KEPT_SECONDS];
    const answer = await this.durable.run(queueSteeringScript, this.steeringKeys(tenantId, sessionId), args);
    const [waiting, bytes] = Array.isArray(answer) ? answer.map(Number) : [];
    return { waiting: waiting ?? 0, bytes: bytes ?? 0 };
  }

  /** The last messages of people to a session, oldest first. */
  async steeringOfSession(tenantId: string, sessionId: string): Promise<SessionMessage[]> {
    const [waitingKey, lastKey] = this.steeringKeys(tenantId, sessionId);
    const [waiting, all] = await Promise.all([this.redis.lrange(waitingKey, '0', '-1'), this.redis.lrange(lastKey, '0', '-1')]);
    const untaken = new Set(waiting);
    return all.map((text) => ({ ...SteeringMessage.parse(JSON.parse(text)), taken: !untaken.has(text) }));
  }

  /** Bytes that Redis keeps of the messages to a session: of those that wait and of the last ones. */
  async steeringBytes(tenantId: string, sessionId: string): Promise<number> {
    return Number(await steeringBytesScript.run(this.redis, this.steeringKeys(tenantId, sessionId), []));
  }

  /** Forgets what people said to a session. Messages that wait are kept for its next batch. */
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

  /** The empty session means none; no message can be queued for it. */
  private steeringOf({ id, principal, sessionId = '' }: BatchDefinition): string {
    return keys.steering(partitionOf(id), principal.tenantId, sessionId);
  }

  private async notify(id: string): Promise<void> {
    await this.redis.publish(keys.batchChannel(), id);
  }
}

function tooManyBytes(most: number): string {
  return `The batches of the tenant that have not ended have ${most} bytes together in a part of the log (TENANT_BATCH_BYTES), which is the most: wait until some end, or cancel some`;
}
