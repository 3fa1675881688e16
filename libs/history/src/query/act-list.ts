import { AdminEvent, ProblemError, type ActPage, type ListActsQuery } from '#contracts';
import type { LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { storable } from '../rows/call-row.js';
import { describeLag, locate, type Place } from './log-tail.js';

/** Most entries that one request reads from the log itself, ahead of the projectors. */
const MAX_TAIL = 4_000;
const PAGE = 500;
const ACTOR = 'apikey:';

/** Administrative acts of a tenant, newest first. Order and partition are those of the log. */
export class ActList {
  /** `partitionOf`: partition of the acts of a tenant. */
  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly partitionOf: (tenantId: string) => string,
  ) {}

  /** Contains every act written before the request, unless `behind` is set. */
  async page(tenantId: string, query: ListActsQuery): Promise<ActPage> {
    const before = query.cursor === undefined ? Infinity : decode(query.cursor);
    const [place] = await locate(this.db, this.log, [this.partitionOf(tenantId)]);
    const tail = place === undefined || place.lag > MAX_TAIL ? undefined : await this.tail(place);
    const late = place !== undefined && tail === undefined ? await describeLag(this.log, [place]) : undefined;
    const newer = (tail ?? []).filter(({ seq, act }) => seq < before && act.tenantid === tenantId && matches(act, query));
    const rows = await this.rows(tenantId, query, before);
    // A projector may have written the newer acts meanwhile.
    const found = [...new Map([...newer, ...rows].map((found) => [found.seq, found])).values()].sort((a, b) => b.seq - a.seq);
    const page = found.slice(0, query.limit);
    const last = page.at(-1);
    return {
      acts: page.map(({ act }) => act),
      ...(found.length > query.limit && last !== undefined ? { nextCursor: encode(last.seq) } : {}),
      ...(late === undefined ? {} : { behind: late }),
    };
  }

  private async tail({ partition, seq, lag }: Place): Promise<{ seq: number; act: AdminEvent }[]> {
    const found: { seq: number; act: AdminEvent }[] = [];
    for (let next = seq + 1; next <= seq + lag;) {
      const { entries } = await this.log.read(partition, next, Math.min(PAGE, seq + lag + 1 - next));
      const last = entries.at(-1);
      if (last === undefined) break;
      found.push(...entries.flatMap((entry) => (entry.act === undefined ? [] : [{ seq: entry.seq, act: entry.act }])));
      next = last.seq + 1;
    }
    return found;
  }

  private async rows(
    tenantId: string,
    { limit, type, keyId, target, since, until }: ListActsQuery,
    before: number,
  ): Promise<{ seq: number; act: AdminEvent }[]> {
    const rows = await this.db
      .selectFrom('acts')
      .select(['seq', 'event'])
      .where('tenant_id', '=', tenantId)
      .$if(before !== Infinity, (query) => query.where('seq', '<', before))
      .$if(type !== undefined, (query) => query.where('type', 'in', type ?? []))
      .$if(keyId !== undefined, (query) =>
        query.where(
          'actor',
          'in',
          (keyId ?? []).map((id) => storable(ACTOR + id)),
        ),
      )
      .$if(target !== undefined, (query) => query.where('target', '=', storable(target ?? '')))
      .$if(since !== undefined, (query) => query.where('at', '>=', new Date(since ?? 0)))
      .$if(until !== undefined, (query) => query.where('at', '<=', new Date(until ?? 0)))
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute();
    return rows.map(({ seq, event }) => ({ seq, act: AdminEvent.parse(JSON.parse(event)) }));
  }
}

function matches({ type, actor, time, data }: AdminEvent, query: ListActsQuery): boolean {
  const at = Date.parse(time);
  return (
    (query.type === undefined || query.type.includes(type)) &&
    (query.keyId === undefined || query.keyId.some((id) => actor === ACTOR + id)) &&
    (query.target === undefined || query.target === data.target) &&
    (query.since === undefined || at >= Date.parse(query.since)) &&
    (query.until === undefined || at <= Date.parse(query.until))
  );
}

/** Opaque to callers. */
function encode(seq: number): string {
  return Buffer.from(`act ${seq.toString(36)}`).toString('base64url');
}

/** @throws ProblemError `invalid_request` for any other cursor */
function decode(text: string): number {
  const match = /^act ([\da-z]{1,11})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (match?.[1] !== undefined) return Number.parseInt(match[1], 36);
  const expected = 'expected the cursor of an answer to the same question, unchanged';
  throw new ProblemError('invalid_request', `The cursor cannot be read: ${expected}.`, {
    errors: [{ pointer: '/cursor', message: expected }],
  });
}
