import { keys, type RedisConnection } from '#redis';
import type { CallStore } from './call-store.js';

/** Calls of a partition that wait for a person. */
export interface PendingApprovals {
  readonly waiting: number;
  /** Redis ms at which the first of them was asked about; absent when none waits. */
  readonly since?: number;
}

/**
 * Reads the set that apply-transitions.lua keeps. A release that does not know the set leaves calls in it that wait no longer:
 * such a call is removed when it is the first of the set.
 */
export async function readPendingApprovals(
  redis: RedisConnection,
  store: Pick<CallStore, 'snapshot'>,
  partition: string,
): Promise<PendingApprovals> {
  const key = keys.pendingApprovals(partition);
  for (;;) {
    const [waiting, [callId, since]] = await Promise.all([redis.zcard(key), redis.zrange(key, '0', '0', 'WITHSCORES')]);
    if (callId === undefined) return { waiting: 0 };
    if ((await store.snapshot(callId))?.status === 'waiting_approval') return { waiting, since: Number(since) };
    await redis.zrem(key, callId);
  }
}
