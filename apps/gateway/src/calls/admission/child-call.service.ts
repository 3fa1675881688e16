import { Inject, Injectable } from '@nestjs/common';
import { KEPT_WITH_CALL_SECONDS, ProblemError, type Principal, type SubmitCallBody } from '#contracts';
import type { CallSnapshot } from '#event-log';
import { keys, redisNow, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { CallReader } from '../read/call-reader.service.js';

/** Place of a child call in its call tree. */
export interface CallLineage {
  readonly parentCallId: string;
  readonly rootCallId: string;
  /** 1 for a child of a call that has no parent. */
  readonly depth: number;
  /** Remaining time of the parent, in milliseconds; no child outlives its parent. */
  readonly remainingMs: number;
  /** Number of ancestor calls that are sub-agents. */
  readonly agentsAbove: number;
}

/**
 * Child calls. A child has its parent's session, agent, user and partition, and at most the parent's remaining time; a cancel
 * of the parent reaches it.
 */
@Injectable()
export class ChildCallService {
  constructor(
    private readonly reader: CallReader,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
  ) {}

  /**
   * Lineage of the call, and its body with the parent's session, agent and user. `byAgent`: the parent is a sub-agent whose
   * loop makes the call. Its attempt is suspended meanwhile, so the child has the time of the whole parent call, not of one
   * attempt.
   *
   * @throws ProblemError `resource_not_found` for an unknown parent, `conflict` for a parent that does not run,
   * `invalid_request` for a session, agent or user other than the parent's
   */
  async resolveLineage(
    principal: Principal,
    body: SubmitCallBody,
    parentCallId: string,
    byAgent: boolean,
  ): Promise<{ lineage: CallLineage; body: SubmitCallBody }> {
    const [head, now] = await Promise.all([this.reader.head(principal, parentCallId), redisNow(this.redis)]);
    if (!(byAgent ? isOpen(head) : isRunning(head))) throw notRunning(head);
    const submitted = await this.reader.submission(parentCallId);

    const { sessionId, agentId } = head.meta;
    requireSame('sessionId', body.sessionId, sessionId);
    const { userId } = submitted.data;
    requireSame('agentId', body.agentId, agentId);
    requireSame('userId', body.userId, userId);
    const deadline = byAgent ? head.totalDeadline : Math.min(head.deadline, head.totalDeadline);
    const leftMs = deadline - now;
    if (leftMs <= 0) throw new ProblemError('conflict', 'The time of the parent call is over', { callId: parentCallId });
    const { rootCallId = parentCallId, depth = 0, agentsAbove = 0, pool } = submitted.data;
    return {
      lineage: {
        parentCallId,
        rootCallId,
        depth: depth + 1,
        remainingMs: leftMs,
        agentsAbove: agentsAbove + Number(pool === 'agent'),
      },
      body: {
        ...body,
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(agentId === undefined ? {} : { agentId }),
        ...(userId === undefined ? {} : { userId }),
      },
    };
  }

  /** Registers the child before its acceptance, so that no cancel of the parent misses it. */
  async registerChild(parentCallId: string, callId: string): Promise<void> {
    const key = keys.children(parentCallId);
    await Promise.all([this.redis.sadd(key, callId), this.redis.expire(key, KEPT_WITH_CALL_SECONDS)]);
  }

  /** Removes a child that was not accepted. Never rejects. */
  async unregisterChild(parentCallId: string, callId: string): Promise<void> {
    await this.redis.srem(keys.children(parentCallId), callId).catch(() => {});
  }

  /** True if the parent was cancelled or ended while its child was being accepted. */
  async isParentTerminal(principal: Principal, { parentCallId }: CallLineage, byAgent: boolean): Promise<boolean> {
    const head = await this.reader.head(principal, parentCallId);
    return !(byAgent ? isOpen(head) : isRunning(head));
  }

  childrenOf(callId: string): Promise<string[]> {
    return this.redis.smembers(keys.children(callId));
  }
}

function isRunning({ status, cancelRequested }: CallSnapshot): boolean {
  return status === 'running' && !cancelRequested;
}

/** A sub-agent may also make calls between two of its attempts. */
function isOpen({ status, cancelRequested }: CallSnapshot): boolean {
  return status !== 'ended' && !cancelRequested;
}

function notRunning({ callId, status, cancelRequested }: CallSnapshot): ProblemError {
  const state = cancelRequested && status === 'running' ? 'being cancelled' : status;
  return new ProblemError('conflict', `Only a running call can make calls; the parent call is ${state}`, { callId });
}

function requireSame(field: 'sessionId' | 'agentId' | 'userId', own: string | undefined, parents: string | undefined): void {
  if (own === undefined || own === parents) return;
  const message = `expected ${parents === undefined ? 'none' : parents}, as of the parent call, or nothing`;
  throw new ProblemError('invalid_request', `A call has the ${field} of the call that makes it: ${message}`, {
    errors: [{ pointer: `/${field}`, message }],
  });
}
