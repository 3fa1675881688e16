import { Inject, Injectable } from '@nestjs/common';
import { KEPT_WITH_CALL_SECONDS, ProblemError, type Principal, type SubmitCallBody } from '#contracts';
import type { CallSnapshot } from '#event-log';
import { keys, redisNow, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { CallReader } from '../read/call-reader.service.js';

/** The place of a call that another call makes. */
export interface CallLineage {
  readonly parentCallId: string;
  readonly rootCallId: string;
  /** 1 for a child of a call that has no parent. */
  readonly depth: number;
  /** What is left of the parent's time: no child outlives it. */
  readonly remainingMs: number;
  /** How many of the calls above are sub-agents. */
  readonly agentsAbove: number;
}

/**
 * Calls that calls make. A child is of its parent's session, agent and user, lives in its partition, and has no more time than the
 * parent has left; a cancel of the parent reaches it.
 */
@Injectable()
export class ChildCallService {
  constructor(
    private readonly reader: CallReader,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
  ) {}

  /**
   * The lineage of the call, and its body with the parent's session, agent and user. `byAgent`: the parent is a sub-agent that asks
   * itself. It waits for its calls suspended, so they have the time of the whole call, not only of its attempt.
   * @throws ProblemError `resource_not_found` for an unknown parent, `conflict` for one that does not run, `invalid_request`
   * when session, agent or user are not the parent's
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

  /** Called before the child is accepted, so that no cancel of the parent misses it. */
  async registerChild(parentCallId: string, callId: string): Promise<void> {
    const key = keys.children(parentCallId);
    await Promise.all([this.redis.sadd(key, callId), this.redis.expire(key, KEPT_WITH_CALL_SECONDS)]);
  }

  /** The child was not accepted. Never rejects. */
  async unregisterChild(parentCallId: string, callId: string): Promise<void> {
    await this.redis.srem(keys.children(parentCallId), callId).catch(() => {});
  }

  /** Whether the parent was cancelled or has ended while its child was being accepted. */
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

/** A sub-agent also makes calls while another attempt of it is awaited. */
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
