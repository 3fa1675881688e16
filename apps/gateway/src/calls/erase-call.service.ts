import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { ProblemError, type EraseBody, type Erasure, type Principal, type TenantRetention } from '#contracts';
import type { CallSnapshot } from '#event-log';
import type { ErasureRecord } from '#history';
import { partitionOf, type RedisConnection } from '#redis';
import { AdminActs, type AdmittedAct } from '../auth/admin-acts.service.js';
import { eventOrigin } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { historyUnavailable, type GatewayHistory } from '../platform/gateway-history.js';
import { FAIL_FAST_REDIS, HISTORY, LOGGER } from '../platform/tokens.js';
import { CallReader } from './read/call-reader.service.js';

const NOT_REACHED = [
  'backups of Redis, of the database and of the archive, and backups of the keys, that were made before',
  'files of `toolyard export`, and what readers, subscribers and hooks have received',
  'other calls with the same content: those that it made, that replay it, or whose arguments were taken from its result',
  'what the tool wrote elsewhere: files of workspaces, memories, other systems',
  'the append-only file and replicas of Redis until they are rewritten, and dead rows of PostgreSQL until they are vacuumed',
];

/**
 * Erases the content of ended calls. Records the request, removes the texts from lists, and requests the removal from Redis;
 * the process that archives does the rest (`Eraser` of #sealing).
 */
@Injectable()
export class EraseCallService {
  constructor(
    private readonly reader: CallReader,
    @Inject(HISTORY) private readonly history: GatewayHistory,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly acts: AdminActs,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /**
   * Current retention settings of the tenant.
   * @throws ProblemError `conflict` under legal hold
   */
  allowedFor({ tenantId }: Principal): TenantRetention {
    const retention = this.retentionNow(tenantId);
    if (retention.legalHold === true)
      throw new ProblemError(
        'conflict',
        `The tenant ${tenantId} is under legal hold (tenants.${tenantId}.retention.legalHold): nothing is erased`,
      );
    return retention;
  }

  /** @throws ProblemError `too_many_requests`, `overloaded` */
  admit(principal: Principal): AdmittedAct {
    return this.acts.admit(principal, { revokes: false });
  }

  /**
   * Requests an erasure; returns the progress of an earlier one. `act`: administrative act of the request, possibly shared with
   * other calls.
   */
  async erase(
    principal: Principal,
    callId: string,
    { reason }: EraseBody,
    retention = this.allowedFor(principal),
    act = this.admit(principal),
  ): Promise<Erasure> {
    const head = await this.reader.head(principal, callId);
    const { erasures } = this.history;
    if (erasures === undefined) throw historyUnavailable();
    return this.guarded(async () => {
      const before = await erasures.find(callId);
      if (before !== undefined) return erasureOf(before);
      checkNotHeld(head, retention);
      await this.checkErasable(head, retention);
      const { actor } = eventOrigin(this.config.name, principal);
      const { tenantId } = principal;
      // Records the act first: a repetition would find the request and record nothing.
      await act.record('admin.call_erased', { target: callId, reason });
      await erasures.request({ callId, tenantId, partition: partitionOf(callId), lastSeq: head.lastSeq, requestedBy: actor, reason });
      this.log.info({ callId, tenantId, actor }, 'the erasure of a call was requested');
      const { requestErase } = await import('#sealing');
      await requestErase(this.redis, partitionOf(callId), head.lastSeq);
      const recorded = await erasures.find(callId);
      if (recorded === undefined) throw new ProblemError('conflict', 'The record of the erasure is gone: try again');
      return erasureOf(recorded);
    });
  }

  private async checkErasable(
    { callId, status, lifecycleSeqs, meta: { tenantId } }: CallSnapshot,
    { erasable }: TenantRetention,
  ): Promise<void> {
    if (status !== 'ended')
      throw new ProblemError('conflict', `The call is ${status}: cancel it first, and erase it when it has ended`, { callId });
    const key = (await this.history.contentKeys?.read([callId]))?.get(callId);
    if (key !== undefined) return;
    const setting = `tenants.${tenantId}.retention.erasable`;
    if (erasable !== true)
      throw new ProblemError(
        'conflict',
        `Calls of the tenant ${tenantId} are archived as they are, so they cannot be erased. Set ${setting}: true in the config file of gateways and projectors; it holds for calls that are submitted afterwards`,
        { callId },
      );
    if (this.config.archiveUrl === undefined)
      throw new ProblemError('conflict', 'This gateway has no archive, and calls are erased there: set ARCHIVE_URL', { callId });
    const { readPosition } = await import('#sealing');
    const { sealedSeq } = await readPosition(this.redis, partitionOf(callId));
    if ((lifecycleSeqs[0] ?? 0) <= sealedSeq)
      throw new ProblemError('conflict', `The call was archived before ${setting} was set: it cannot be taken out of the signed archive`, {
        callId,
      });
  }

  /** Retention of the current file, so that a legal hold counts at once. */
  private retentionNow(tenantId: string): TenantRetention {
    const { retention = {} } = this.config.file?.read() ?? this.config;
    return Object.hasOwn(retention, tenantId) ? (retention[tenantId] ?? {}) : {};
  }

  private async guarded(run: () => Promise<Erasure>): Promise<Erasure> {
    try {
      return await run();
    } catch (error) {
      throw error instanceof Error && error.name === 'HistoryUnavailable' ? historyUnavailable(error) : error;
    }
  }
}

/** @throws ProblemError `conflict` for a call of a session or agent under legal hold */
function checkNotHeld({ callId, meta: { tenantId, sessionId, agentId } }: CallSnapshot, retention: TenantRetention): void {
  const { heldSessions = [], heldAgents = [] } = retention;
  const hold =
    sessionId !== undefined && heldSessions.includes(sessionId)
      ? ['session', sessionId, 'heldSessions']
      : agentId !== undefined && heldAgents.includes(agentId)
        ? ['agent', agentId, 'heldAgents']
        : undefined;
  if (hold === undefined) return;
  const [what, name, setting] = hold;
  throw new ProblemError(
    'conflict',
    `The ${what} ${name} is under legal hold (tenants.${tenantId}.retention.${setting}): nothing of it is erased`,
    { callId },
  );
}

function erasureOf({ callId, requestedBy, requestedAt, reason, doneAt, fault }: ErasureRecord): Erasure {
  return {
    callId,
    state: doneAt !== undefined ? 'done' : fault === undefined ? 'pending' : 'failed',
    requestedBy,
    requestedAt: requestedAt.toISOString(),
    ...(reason === undefined ? {} : { reason }),
    ...(doneAt === undefined ? {} : { doneAt: doneAt.toISOString() }),
    ...(fault === undefined ? {} : { fault }),
    notReached: NOT_REACHED,
  };
}
