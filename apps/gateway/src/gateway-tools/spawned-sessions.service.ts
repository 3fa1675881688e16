import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { KEPT_WITH_CALL_SECONDS, ProblemError } from '#contracts';
import { CallStore, type CallSnapshot } from '#event-log';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/** Session that an agent began for a sub-agent. */
const SpawnedSession = z.object({
  sessionId: z.string(),
  name: z.string(),
  agent: z.string(),
  /** Call of the sub-agent. Absent until the session begins. */
  callId: z.string().optional(),
  /** User of the session; absent for none. */
  userId: z.string().optional(),
});
type SpawnedSession = z.output<typeof SpawnedSession>;

export interface BegunSession extends SpawnedSession {
  readonly callId: string;
  readonly head: CallSnapshot;
}

const PREFIX = 'spawned-';

/** Id of the session that a call begins, equal for repetitions. */
export function spawnedSessionId(callId: string): string {
  return `${PREFIX}${callId}`;
}

function askingCall(sessionId: string): string {
  return sessionId.slice(PREFIX.length);
}

/** Most running sessions for each user of a session. */
const MOST_RUNNING = 8;

/**
 * Reserves a place among the sessions of a user, unless the name is in use or too many run. KEYS[1] the sessions; ARGV[1] id of
 * the new one; ARGV[2] session as JSON; ARGV[3] ids of ended ones, as JSON; ARGV[4] most running ones; ARGV[5] life in s.
 */
const RESERVE = new LuaScript(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 'ok' end
local ended = {}
for _, id in ipairs(cjson.decode(ARGV[3])) do ended[id] = true end
local wanted = cjson.decode(ARGV[2])
local running = 0
for _, text in ipairs(redis.call('HVALS', KEYS[1])) do
  local other = cjson.decode(text)
  if other.userId == wanted.userId then
    if other.name == wanted.name then return 'name' end
    if not ended[other.sessionId] then running = running + 1 end
  end
end
if running >= tonumber(ARGV[4]) then return 'full' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return 'ok'`);

/** Sessions by the session that began them. */
@Injectable()
export class SpawnedSessions {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly calls: CallStore,
  ) {}

  /** Reserves a place before the session begins. Idempotent. @throws ProblemError if there is no place, or if the name is in use */
  async reserve(tenantId: string, owner: string, session: SpawnedSession): Promise<void> {
    const key = keys.spawnedSessions(tenantId, owner);
    const ended = await this.ended(key);
    const args = [session.sessionId, JSON.stringify(session), JSON.stringify(ended), MOST_RUNNING, KEPT_WITH_CALL_SECONDS];
    const answer = await RESERVE.run(this.redis, [key], args);
    if (answer === 'name') throw new ProblemError('invalid_request', `There is a session ${session.name} already`);
    if (answer === 'full') throw new ProblemError('quota_exceeded', `${MOST_RUNNING} sessions run already: wait for one, or interrupt one`);
  }

  async add(tenantId: string, owner: string, session: SpawnedSession): Promise<void> {
    const key = keys.spawnedSessions(tenantId, owner);
    await this.redis.multi().hset(key, session.sessionId, JSON.stringify(session)).expire(key, KEPT_WITH_CALL_SECONDS).exec();
  }

  async remove(tenantId: string, owner: string, sessionId: string): Promise<void> {
    await this.redis.hdel(keys.spawnedSessions(tenantId, owner), sessionId);
  }

  /** Ids of all sessions, including those that have not begun yet. */
  ids(tenantId: string, owner: string): Promise<string[]> {
    return this.redis.hkeys(keys.spawnedSessions(tenantId, owner));
  }

  /** Sessions in the order of their ids, with the state of their calls. Omits those whose calls are not or no longer stored. */
  async of(tenantId: string, owner: string): Promise<BegunSession[]> {
    const known = await Promise.all(
      (await this.all(keys.spawnedSessions(tenantId, owner))).map(async ({ callId, ...session }) => {
        const head = callId === undefined ? undefined : await this.calls.snapshot(callId);
        return callId === undefined || head === undefined ? [] : [{ ...session, callId, head }];
      }),
    );
    return known.flat().sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  }

  /** Ids of ended sessions: an ended call never runs again. A session without a call is about to begin while its requesting call runs. */
  private async ended(key: string): Promise<string[]> {
    const ended = await Promise.all(
      (await this.all(key)).map(async ({ sessionId, callId = askingCall(sessionId) }) => {
        const head = await this.calls.snapshot(callId);
        return head === undefined || head.status === 'ended' ? [sessionId] : [];
      }),
    );
    return ended.flat();
  }

  private async all(key: string): Promise<SpawnedSession[]> {
    return Object.values(await this.redis.hgetall(key)).map((text) => SpawnedSession.parse(JSON.parse(text)));
  }

  async forget(tenantId: string, owner: string): Promise<void> {
    await this.redis.del(keys.spawnedSessions(tenantId, owner));
  }
}
