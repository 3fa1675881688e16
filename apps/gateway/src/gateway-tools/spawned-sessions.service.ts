import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { CallStore, type CallSnapshot } from '#event-log';
import { keys, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** As long as any call may live. */
const KEPT_SECONDS = 8 * 24 * 3600;

/** A session that an agent began for a sub-agent. */
const SpawnedSession = z.object({
  sessionId: z.string(),
  name: z.string(),
  agent: z.string(),
  /** The call of the sub-agent. */
  callId: z.string(),
  /** For whom; absent for no user. */
  userId: z.string().optional(),
});
export type SpawnedSession = z.output<typeof SpawnedSession>;

/** Which sessions were begun by which. */
@Injectable()
export class SpawnedSessions {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly calls: CallStore,
  ) {}

  async add(tenantId: string, owner: string, session: SpawnedSession): Promise<void> {
    const key = keys.spawnedSessions(tenantId, owner);
    await this.redis.multi().hset(key, session.sessionId, JSON.stringify(session)).expire(key, KEPT_SECONDS).exec();
  }

  /** In the order of their ids, with the state of their calls. Those whose calls are not stored any more are left out. */
  async of(tenantId: string, owner: string): Promise<(SpawnedSession & { readonly head: CallSnapshot })[]> {
    const all = await this.redis.hgetall(keys.spawnedSessions(tenantId, owner));
    const sessions = Object.values(all).map((text) => SpawnedSession.parse(JSON.parse(text)));
    const known = await Promise.all(
      sessions.map(async (session) => {
        const head = await this.calls.snapshot(session.callId);
        return head === undefined ? [] : [{ ...session, head }];
      }),
    );
    return known.flat().sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  }

  async forget(tenantId: string, owner: string): Promise<void> {
    await this.redis.del(keys.spawnedSessions(tenantId, owner));
  }
}
