import type { ListSessionsQuery, SessionPage, SessionSummary } from '#contracts';
import { keys, partitionName, type RedisConnection } from '#redis';
import type { LogSource } from '#history';
import { decodeSession } from '../stats/session-activity.js';
import { behindOf } from './lane.js';
import { decodeSessionCursor, encodeSessionCursor, type SessionPlace } from './page-cursor.js';

/** Sessions of a tenant, the latest active first. One that is active again between two pages may be on neither: it is on top of the first. */
export class SessionList {
  constructor(
    private readonly redis: RedisConnection,
    private readonly log: LogSource,
    private readonly partitions: number,
  ) {}

  async page(tenantId: string, { cursor, limit }: ListSessionsQuery): Promise<SessionPage> {
    const after = cursor === undefined ? undefined : decodeSessionCursor(cursor);
    const names = Array.from({ length: this.partitions }, (_, index) => partitionName(index));
    const [found, behind] = await Promise.all([
      Promise.all(names.map((name) => this.newest(name, tenantId, after, limit + 1))),
      behindOf(this.redis, this.log, this.partitions),
    ]);
    const sessions = found.flat().sort(newestFirst);
    const page = sessions.slice(0, limit);
    const last = page.at(-1);
    return {
      sessions: await this.summaries(tenantId, page),
      ...(sessions.length > limit && last !== undefined ? { nextCursor: encodeSessionCursor(last) } : {}),
      ...(behind === undefined ? {} : { behind }),
    };
  }

  /** At most `limit` of a partition after a place. Sessions with the very time of the place may be before it, so pages are read until enough are not. */
  private async newest(partition: string, tenantId: string, after: SessionPlace | undefined, limit: number): Promise<Placed[]> {
    const found: Placed[] = [];
    for (let offset = 0; found.length < limit; offset += limit) {
      const flat = await this.redis.zrevrangebyscore(
        keys.viewRecentSessions(partition, tenantId),
        after?.lastAt ?? '+inf',
        '-inf',
        'WITHSCORES',
        'LIMIT',
        offset,
        limit,
      );
      for (let at = 0; at < flat.length; at += 2) {
        const place = { partition, sessionId: flat[at] ?? '', lastAt: Number(flat[at + 1]) };
        if (after === undefined || newestFirst(after, place) < 0) found.push(place);
      }
      if (flat.length < 2 * limit) break;
    }
    return found;
  }

  private async summaries(tenantId: string, places: readonly Placed[]): Promise<SessionSummary[]> {
    const texts = await Promise.all(
      places.map(({ partition, sessionId }) => this.redis.hget(keys.viewSessions(partition, tenantId), sessionId)),
    );
    return places.flatMap(({ sessionId }, n) => {
      const text = texts[n];
      if (text === undefined || text === null) return [];
      const { calls, open, failed, firstAt, lastAt, agentId } = decodeSession(text);
      const iso = (time: number) => new Date(time).toISOString();
      return [{ sessionId, agentId, calls, running: open, failed, firstAt: iso(firstAt), lastAt: iso(lastAt) }];
    });
  }
}

interface Placed extends SessionPlace {
  readonly partition: string;
}

function newestFirst(a: SessionPlace, b: SessionPlace): number {
  if (a.lastAt !== b.lastAt) return b.lastAt - a.lastAt;
  return a.sessionId === b.sessionId ? 0 : a.sessionId < b.sessionId ? 1 : -1;
}
