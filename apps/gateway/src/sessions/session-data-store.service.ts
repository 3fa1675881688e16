import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, SESSION_DATA_PARTS, type Principal, SESSION_DATA, SESSION_DATA_BYTES } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { replaceScript, SESSION_LIFE_MS } from './replace-script.js';
import { SessionEventPublisher } from './session-event-publisher.service.js';
import { SessionRoom } from './session-room.service.js';
import { z } from 'zod';

/** Number of remembered calls whose repeated change is ignored. */
const REMEMBERED_CALLS = 64;

/** Data that the agents of a session store in it. */
const SessionData = z.object({ ...SESSION_DATA, changedBy: z.array(z.string()).default([]) });
type SessionData = z.output<typeof SessionData>;
type SessionContent = Omit<SessionData, 'changedBy'>;

const NO_DATA: SessionData = { changedBy: [] };

/** Text to store after a change by a call. Pure. @throws ProblemError `quota_exceeded` if it is too large */
function changedText(data: SessionData, change: Partial<SessionContent>, callId: string): string {
  const changedBy = [...data.changedBy, callId].slice(-REMEMBERED_CALLS);
  const text = JSON.stringify({ ...data, ...change, changedBy });
  const bytes = Buffer.byteLength(text);
  if (bytes <= SESSION_DATA_BYTES) return text;
  throw new ProblemError(
    'quota_exceeded',
    `Todo list, task list and settings of a session have at most ${SESSION_DATA_BYTES} bytes together, and this would make ${bytes}: remove something first`,
  );
}

/** Most tries, more than workers that write to one session concurrently: each conflict needs another read. */
const TRIES = 200;

/** Data that the agents of a session store in it: todo list, task list, settings, found tools. Ends with the session. */
@Injectable()
export class SessionDataStore {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly durable: DurableWrites,
    private readonly events: SessionEventPublisher,
    private readonly room: SessionRoom,
  ) {}

  async read(tenantId: string, sessionId: string): Promise<SessionContent> {
    const { changedBy: _, ...content } = parsed(await this.redis.get(keys.sessionData(tenantId, sessionId)));
    return content;
  }

  /**
   * Changes the data and returns it before and after; changes of several calls are serialised. A repeated change of the same
   * call changes nothing.
   * @throws ProblemError `quota_exceeded`, and the errors of `next`
   */
  async change(
    { principal, sessionId, callId }: { readonly principal: Principal; readonly sessionId: string; readonly callId: string },
    next: (data: SessionContent) => Partial<SessionContent>,
  ): Promise<{ readonly before: SessionContent; readonly now: SessionContent }> {
    const key = keys.sessionData(principal.tenantId, sessionId);
    for (let tries = 0; tries < TRIES; tries++) {
      const stored = await this.redis.get(key);
      const before = parsed(stored);
      if (before.changedBy.includes(callId)) return { before, now: before };
      const change = next(before);
      const text = changedText(before, change, callId);
      await this.room.count(principal.tenantId, sessionId, 'data', { bytes: Buffer.byteLength(text), lifeMs: SESSION_LIFE_MS });
      if ((await this.durable.run(replaceScript, [key], [stored ?? '', text, SESSION_LIFE_MS])) !== 1) continue;
      await this.events.publish(principal, sessionId, 'session.data', {
        changed: SESSION_DATA_PARTS.filter((part) => change[part] !== undefined),
        callId,
      });
      return { before, now: { ...before, ...change } };
    }
    throw new ProblemError('overloaded', 'The session changed faster than it could be written');
  }

  async remove(tenantId: string, sessionId: string): Promise<void> {
    await this.redis.del(keys.sessionData(tenantId, sessionId));
    await this.room.count(tenantId, sessionId, 'data', { bytes: 0, lifeMs: 0 });
  }
}

function parsed(stored: string | null): SessionData {
  return stored === null ? NO_DATA : SessionData.parse(JSON.parse(stored));
}
