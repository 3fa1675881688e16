import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { ProblemError, type Principal } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { SessionRoom } from '../../sessions/session-room.service.js';
import { featuresOfSession, type ClientFeatures } from '../wire/client-features.js';

/** Lifetime of a session after its last request. */
const IDLE_SECONDS = 24 * 3600;
/** Least interval between two writes of the last use. */
const USE_MS = 60_000;
/** Most sessions of one key. Beyond it the least recently used one ends; its client opens another. */
const MAX_SESSIONS = 1_000;
/**
 * Most fields of a session, far above the concurrent requests of a client, so that a hostile one cannot fill memory. Beyond it
 * the oldest quarter is deleted.
 */
const MAX_FIELDS = 2_000;
/** Number of fields of the session itself: `owner`, `elicitation`, `sampling` and `usedAt`. */
const OWN_FIELDS = 4;
/**
 * Bytes with which each field of a session is counted for its tenant. The `first` fields are counted when the session begins: its
 * own and those of one or two requests. Further ones are counted in steps of `step`.
 */
const COUNTED = { bytes: 512, first: 6, step: 32 };
/** A longer request id is stored as its digest, so that a field has no more bytes than it is counted with. */
const ID_CHARACTERS = 128;

export type RequestId = string | number;

const SessionId = z.uuid();

/**
 * Sessions of clients of a revision before 2026-07-28, in Redis, so that any gateway serves any request of them. A session
 * belongs to the principal that created it; for another one it does not exist. Stores the capabilities of the client, and the
 * call of each request in progress, so that any gateway can cancel it.
 */
@Injectable()
export class McpSessions {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly room: SessionRoom,
  ) {}

  /** Counts a session that is about to begin. @throws ProblemError `quota_exceeded` if the tenant has no room */
  admit(sessionId: string, principal: Principal): Promise<void> {
    return this.count(sessionId, principal, bytesOf(COUNTED.first));
  }

  /** Counts a session no longer that was admitted and did not begin. */
  drop(sessionId: string, principal: Principal): Promise<void> {
    return this.count(sessionId, principal, 0, true);
  }

  async create(sessionId: string, principal: Principal, capabilities: unknown): Promise<void> {
    const { elicitation, sampling } = featuresOfSession(capabilities);
    const fields = { owner: ownerOf(principal), elicitation: elicitation ? '1' : '0', sampling: sampling ? '1' : '0' };
    await this.used(sessionId, principal, fields);
    await this.endOldest(principal);
  }

  /** Undefined for a session that is unknown, has ended, or belongs to another principal. Extends the session's life. */
  async find(sessionId: string, principal: Principal): Promise<McpSession | undefined> {
    if (!SessionId.safeParse(sessionId).success) return undefined;
    const key = keys.mcpSession(sessionId);
    const stored = await this.redis.hmget(key, 'owner', 'elicitation', 'sampling', 'usedAt', 'counted');
    const [owner, elicitation, sampling, usedAt] = stored;
    if (owner !== ownerOf(principal)) return undefined;
    let counted = Number(stored[4] ?? COUNTED.first);
    // Compares in both directions: a gateway with a faster clock may have written the last use.
    if (Math.abs(Date.now() - Number(usedAt ?? 0)) > USE_MS) {
      counted = stepOf(await this.redis.hlen(key));
      await this.used(sessionId, principal, { counted: String(counted) });
      await this.count(sessionId, principal, bytesOf(counted), true);
    }
    const features = { elicitation: elicitation === '1', sampling: sampling === '1', tasks: false };
    const count = (bytes: number, always: boolean) => this.count(sessionId, principal, bytes, always);
    return new McpSession(this.redis, sessionId, keys.mcpSessionsOf(principal.tenantId, principal.keyId), features, { counted, count });
  }

  private count(sessionId: string, { tenantId }: Principal, bytes: number, always = false): Promise<void> {
    return this.room.count(tenantId, sessionId, 'mcp', { bytes, lifeMs: IDLE_SECONDS * 1_000, always });
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

  private async endOldest(principal: Principal): Promise<void> {
    const key = keys.mcpSessionsOf(principal.tenantId, principal.keyId);
    const beyond = await this.redis.zrange(key, 0, String(-MAX_SESSIONS - 1));
    for (const sessionId of beyond) {
      await this.redis.del(keys.mcpSession(sessionId));
      await this.count(sessionId, principal, 0, true);
    }
    if (beyond.length > 0) await this.redis.zrem(key, ...beyond);
  }
}

interface RoomOfSession {
  /** Number of fields for which the session is counted. */
  counted: number;
  /** Counts the bytes of the session; `always`: also without room for them. */
  count(bytes: number, always: boolean): Promise<void>;
}

/** One session. Values about requests begin with the time of their write, so that the oldest can be deleted. */
export class McpSession {
  private readonly key: string;

  constructor(
    private readonly redis: RedisConnection,
    readonly id: string,
    private readonly sessionsOfKey: string,
    readonly features: ClientFeatures,
    private readonly room: RoomOfSession,
  ) {
    this.key = keys.mcpSession(id);
  }

  async end(): Promise<void> {
    await Promise.all([this.redis.del(this.key), this.redis.zrem(this.sessionsOfKey, this.id), this.room.count(0, true)]);
  }

  async isOver(): Promise<boolean> {
    return (await this.redis.hexists(this.key, 'owner')) === 0;
  }

  /** Stores the call of a request. False if the request was cancelled before. */
  async began(request: RequestId, callId: string): Promise<boolean> {
    // Writes before it reads: of a concurrent cancel, one of the two sees the other.
    const [, cancelled] = await Promise.all([this.set(fieldOf('call', request), callId), this.isCancelled(request)]);
    return !cancelled;
  }

  /** Marks a request as cancelled. Returns its call, if it has one. A mark for which the tenant has no room is dropped. */
  async cancel(request: RequestId): Promise<string | undefined> {
    const [, callId] = await Promise.all([this.set(fieldOf('cancelled', request), '1', false), this.callOf(request)]);
    return callId;
  }

  /** Call of a request without an answer. */
  async callOf(request: RequestId): Promise<string | undefined> {
    const field = await this.redis.hget(this.key, fieldOf('call', request));
    return field?.slice(field.indexOf(' ') + 1);
  }

  /** Deletes a request after its answer, with its open requests to the user. Returns true if the client had cancelled it. */
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

  /**
   * Marks a request to the client's user as open. Its name is the id of a call that needs approval, or that id with the attempt
   * that requests input.
   */
  async asked(question: string): Promise<void> {
    await this.set(questionOf(question), '1');
  }

  /** True if that request is open. */
  async isAsked(question: string): Promise<boolean> {
    return (await this.redis.hexists(this.key, questionOf(question))) === 1;
  }

  async closeQuestion(question: string): Promise<void> {
    await this.redis.hdel(this.key, questionOf(question));
  }

  /** `always`: also if the tenant has no room, for fields of calls, which count by themselves. Else the field is dropped. */
  private async set(field: string, value: string, always = true): Promise<void> {
    const [, length] = await Promise.all([this.redis.hset(this.key, field, `${Date.now()} ${value}`), this.redis.hlen(this.key)]);
    // Deletes the session if it ended meanwhile.
    if (length < OWN_FIELDS) await this.redis.del(this.key);
    else if (length > MAX_FIELDS) await this.forgetOldest();
    else if (length > this.room.counted) await this.countField(field, stepOf(length), always);
  }

  private async countField(field: string, fields: number, always: boolean): Promise<void> {
    try {
      await this.room.count(bytesOf(fields), always);
      this.room.counted = fields;
      const [, length] = await Promise.all([this.redis.hset(this.key, 'counted', String(fields)), this.redis.hlen(this.key)]);
      // Deletes the session if it ended meanwhile.
      if (length < OWN_FIELDS) await this.redis.del(this.key);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      await this.redis.hdel(this.key, field);
    }
  }

  private async forgetOldest(): Promise<void> {
    const fields = Object.entries(await this.redis.hgetall(this.key)).filter(([name]) => name.includes(':'));
    const oldest = fields.toSorted(([, a], [, b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).slice(0, MAX_FIELDS / 4);
    await this.redis.hdel(this.key, ...oldest.map(([name]) => name));
  }
}

/** Number of fields for which a session with so many is counted. */
function stepOf(fields: number): number {
  return fields <= COUNTED.first ? COUNTED.first : Math.ceil(fields / COUNTED.step) * COUNTED.step;
}

function bytesOf(fields: number): number {
  return COUNTED.bytes * fields;
}

function ownerOf({ tenantId, keyId }: Principal): string {
  return `${tenantId}/${keyId}`;
}

function questionOf(question: string): string {
  return `asked:${question}`;
}

/** Distinguishes the ids `1` and `"1"`. */
function fieldOf(what: 'call' | 'cancelled', request: RequestId): string {
  const id = JSON.stringify(request);
  return `${what}:${id.length > ID_CHARACTERS ? sha256Hex(id) : id}`;
}
