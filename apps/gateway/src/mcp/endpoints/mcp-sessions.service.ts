import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Principal } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { featuresOfSession, type ClientFeatures } from '../wire/client-features.js';

/** How long a session lives after its last request. */
const IDLE_SECONDS = 24 * 3600;
/** A use is written at most this often. */
const USE_MS = 60_000;
/** Of one key. Beyond them the one unused for longest is over; its client opens another. */
const MAX_SESSIONS = 1_000;
/** Far above what a client has under way at once; a hostile one fills no memory. Beyond it the oldest quarter is forgotten. */
const MAX_FIELDS = 2_000;
/** Of a session that is not over: `owner`, `elicitation`, `sampling` and `usedAt`. */
const OWN_FIELDS = 4;

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
    const { elicitation, sampling } = featuresOfSession(capabilities);
    const fields = { owner: ownerOf(principal), elicitation: elicitation ? '1' : '0', sampling: sampling ? '1' : '0' };
    await this.used(sessionId, principal, fields);
    await this.endOldest(principal);
  }

  /** Undefined for one that is unknown, is over, or belongs to another principal. A use prolongs its life. */
  async find(sessionId: string, principal: Principal): Promise<McpSession | undefined> {
    if (!SessionId.safeParse(sessionId).success) return undefined;
    const key = keys.mcpSession(sessionId);
    const [owner, elicitation, sampling, usedAt] = await this.redis.hmget(key, 'owner', 'elicitation', 'sampling', 'usedAt');
    if (owner !== ownerOf(principal)) return undefined;
    // Also where a gateway whose clock is ahead was the last.
    if (Math.abs(Date.now() - Number(usedAt ?? 0)) > USE_MS) await this.used(sessionId, principal, {});
    return new McpSession(this.redis, sessionId, keys.mcpSessionsOf(principal.tenantId, principal.keyId), {
      elicitation: elicitation === '1',
      sampling: sampling === '1',
      tasks: false,
    });
  }

  private async used(sessionId: string, { tenantId, keyId }: Principal, fields: Readonly<Record<string, string>>): Promise<void> {
    const key = keys.mcpSession(sessionId);
    const ofKey = keys.mcpSessionsOf(tenantId, keyId);
    const now = Date.now();
    await Promise.all([
      this.redis.hset(key, { ...fields, usedAt: String(now) }),
      this.redis.expire(key, IDLE_SECONDS),
      this.redis.zadd(ofKey, now, sessionId),
      this.redis.expire(ofKey, IDLE_SECONDS),
    ]);
  }

  private async endOldest({ tenantId, keyId }: Principal): Promise<void> {
    const key = keys.mcpSessionsOf(tenantId, keyId);
    const beyond = await this.redis.zrange(key, 0, String(-MAX_SESSIONS - 1));
    for (const sessionId of beyond) await this.redis.del(keys.mcpSession(sessionId));
    if (beyond.length > 0) await this.redis.zrem(key, ...beyond);
  }
}

/** One session. What it remembers of requests has the time at which it was written in front, so that the oldest can go. */
export class McpSession {
  private readonly key: string;

  constructor(
    private readonly redis: RedisConnection,
    readonly id: string,
    private readonly sessionsOfKey: string,
    readonly features: ClientFeatures,
  ) {
    this.key = keys.mcpSession(id);
  }

  async end(): Promise<void> {
    await Promise.all([this.redis.del(this.key), this.redis.zrem(this.sessionsOfKey, this.id)]);
  }

  async isOver(): Promise<boolean> {
    return (await this.redis.hexists(this.key, 'owner')) === 0;
  }

  /** The request became this call. False when it was cancelled before. */
  async began(request: RequestId, callId: string): Promise<boolean> {
    // In this order: of a cancel at the same moment, one of the two sees the other.
    const [, cancelled] = await Promise.all([this.set(fieldOf('call', request), callId), this.isCancelled(request)]);
    return !cancelled;
  }

  /** Remembers that the client has cancelled a request. Returns the call that it became, if it did. */
  async cancel(request: RequestId): Promise<string | undefined> {
    const [, callId] = await Promise.all([this.set(fieldOf('cancelled', request), '1'), this.callOf(request)]);
    return callId;
  }

  /** The call that a request became, as long as the request has no answer. */
  async callOf(request: RequestId): Promise<string | undefined> {
    const field = await this.redis.hget(this.key, fieldOf('call', request));
    return field?.slice(field.indexOf(' ') + 1);
  }

  /** The request has its answer, and what it asked is asked no more. Returns whether the client had cancelled it. */
  async finished(request: RequestId, asked: readonly string[]): Promise<boolean> {
    const [cancelled] = await Promise.all([
      this.redis.hdel(this.key, fieldOf('cancelled', request)),
      this.redis.hdel(this.key, fieldOf('call', request), ...asked.map(questionOf)),
    ]);
    return cancelled === 1;
  }

  async isCancelled(request: RequestId): Promise<boolean> {
    return (await this.redis.hexists(this.key, fieldOf('cancelled', request))) === 1;
  }

  /** The user of the client is asked. The name of a question: the id of a call that needs approval, or one with the attempt that asks. */
  async asked(question: string): Promise<void> {
    await this.set(questionOf(question), '1');
  }

  /** Whether that question is open. */
  async isAsked(question: string): Promise<boolean> {
    return (await this.redis.hexists(this.key, questionOf(question))) === 1;
  }

  async closeQuestion(question: string): Promise<void> {
    await this.redis.hdel(this.key, questionOf(question));
  }

  private async set(field: string, value: string): Promise<void> {
    const [, length] = await Promise.all([this.redis.hset(this.key, field, `${Date.now()} ${value}`), this.redis.hlen(this.key)]);
    // The session was ended meanwhile: nothing of it stays.
    if (length < OWN_FIELDS) await this.redis.del(this.key);
    else if (length > MAX_FIELDS) await this.forgetOldest();
  }

  private async forgetOldest(): Promise<void> {
    const fields = Object.entries(await this.redis.hgetall(this.key)).filter(([name]) => name.includes(':'));
    const oldest = fields.toSorted(([, a], [, b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).slice(0, MAX_FIELDS / 4);
    await this.redis.hdel(this.key, ...oldest.map(([name]) => name));
  }
}

function ownerOf({ tenantId, keyId }: Principal): string {
  return `${tenantId}/${keyId}`;
}

function questionOf(question: string): string {
  return `asked:${question}`;
}

/** The ids `1` and `"1"` are two. */
function fieldOf(what: 'call' | 'cancelled', request: RequestId): string {
  return `${what}:${JSON.stringify(request)}`;
}
