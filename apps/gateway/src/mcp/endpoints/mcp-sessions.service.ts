import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Principal } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { featuresOfSession, type ClientFeatures } from '../wire/client-features.js';

/** How long a session lives after its last request. */
const IDLE_SECONDS = 24 * 3600;
/** Of one key. Beyond them the one unused for longest is over; its client opens another. */
const MAX_SESSIONS = 1_000;
/** Far above what a client has under way at once; a hostile one fills no memory. */
const MAX_FIELDS = 2_000;

export type RequestId = string | number;

const SessionId = z.uuid();

/**
 * Sessions of clients of a revision before 2026-07-28, in Redis, so that any gateway serves any request of them. A session belongs
 * to the principal that made it; for another one it does not exist. It holds what the client said that it can do, and
 * for each request under way which call it became, so that any gateway can cancel it.
 */
@Injectable()
export class McpSessions {
  constructor(@Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection) {}

  async create(sessionId: string, principal: Principal, capabilities: unknown): Promise<void> {
    const key = keys.mcpSession(sessionId);
    const { elicitation } = featuresOfSession(capabilities);
    const hash = { owner: ownerOf(principal), elicitation: elicitation ? '1' : '0' };
    await this.redis.multi().hset(key, hash).expire(key, IDLE_SECONDS).exec();
    await this.used(sessionId, principal);
    await this.endOldest(principal);
  }

  /** Undefined for one that is unknown, is over, or belongs to another principal. A use prolongs its life. */
  async find(sessionId: string, principal: Principal): Promise<McpSession | undefined> {
    if (!SessionId.safeParse(sessionId).success) return undefined;
    const key = keys.mcpSession(sessionId);
    const [owner, elicitation] = await this.redis.hmget(key, 'owner', 'elicitation');
    if (owner !== ownerOf(principal)) return undefined;
    await Promise.all([this.redis.expire(key, IDLE_SECONDS), this.used(sessionId, principal)]);
    return new McpSession(this.redis, key, { elicitation: elicitation === '1', tasks: false });
  }

  private async used(sessionId: string, { tenantId, keyId }: Principal): Promise<void> {
    const key = keys.mcpSessionsOf(tenantId, keyId);
    await this.redis.multi().zadd(key, Date.now(), sessionId).expire(key, IDLE_SECONDS).exec();
  }

  private async endOldest({ tenantId, keyId }: Principal): Promise<void> {
    const key = keys.mcpSessionsOf(tenantId, keyId);
    const beyond = await this.redis.zrange(key, 0, String(-MAX_SESSIONS - 1));
    for (const sessionId of beyond) await this.redis.del(keys.mcpSession(sessionId));
    if (beyond.length > 0) await this.redis.zrem(key, ...beyond);
  }
}

/** One session. */
export class McpSession {
  constructor(
    private readonly redis: RedisConnection,
    private readonly key: string,
    readonly features: ClientFeatures,
  ) {}

  async end(): Promise<void> {
    await this.redis.del(this.key);
  }

  /** The request became this call. False when it was cancelled before. */
  async began(request: RequestId, callId: string): Promise<boolean> {
    await this.set(fieldOf('call', request), callId);
    return !(await this.isCancelled(request));
  }

  /** Remembers that the client has cancelled a request. Returns the call that it became, if it did. */
  async cancel(request: RequestId): Promise<string | undefined> {
    await this.set(fieldOf('cancelled', request), '1');
    return (await this.redis.hget(this.key, fieldOf('call', request))) ?? undefined;
  }

  async isCancelled(request: RequestId): Promise<boolean> {
    return (await this.redis.hexists(this.key, fieldOf('cancelled', request))) === 1;
  }

  /** The request has its answer. */
  async finished(request: RequestId): Promise<void> {
    await this.redis.hdel(this.key, fieldOf('call', request), fieldOf('cancelled', request));
  }

  /** The user of the client was asked about the call. */
  async asked(callId: string): Promise<void> {
    await this.set(`asked:${callId}`, '1');
  }

  /** Whether that question was open. It is closed now. */
  async takeQuestion(callId: string): Promise<boolean> {
    return (await this.redis.hdel(this.key, `asked:${callId}`)) === 1;
  }

  private async set(field: string, value: string): Promise<void> {
    if ((await this.redis.hlen(this.key)) >= MAX_FIELDS) return;
    await this.redis.hset(this.key, field, value);
    // Of a session that was ended meanwhile nothing stays for ever.
    await this.redis.expire(this.key, IDLE_SECONDS);
  }
}

function ownerOf({ tenantId, keyId }: Principal): string {
  return `${tenantId}/${keyId}`;
}

/** The ids `1` and `"1"` are two. */
function fieldOf(what: 'call' | 'cancelled', request: RequestId): string {
  return `${what}:${JSON.stringify(request)}`;
}
