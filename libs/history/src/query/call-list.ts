import { ProblemError, type CallCount, type CallFacets, type CallFilter, type CallPage, type ListCallsQuery } from '#contracts';
import type { LogSource } from '../log-source.port.js';
import { summaryOf, type CallRecord } from '../record/call-record.js';
import { matchesFilter } from '../record/matches-filter.js';
import { hasWords, queryWords } from '../record/search-terms.js';
import { partitionNames, partitionOfRoot } from '#redis';
import type { HistoryDatabase } from '../database/history-database.js';
import { storedFacets, withFresh } from './call-facets.js';
import { conditionsOf } from './call-filter.js';
import { HIGHEST_RISK_FIRST, NEWEST_FIRST, type CallOrder } from './call-order.js';
import { readTail, type Tail } from './log-tail.js';
import { notIn } from './newest-rows.js';

/** Limit above which a count is a lower bound. */
const COUNTED = 100_000;

/** Calls of a tenant, from the rows and the events not yet in them, so that a list has a call as soon as its submission was answered. */
export class CallList {
  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly partitions: number,
  ) {}

  /** Reads a page. Throws `invalid_request` for a cursor of another order, or a text without a letter or digit. */
  page(tenantId: string, { sort, ...query }: ListCallsQuery): Promise<CallPage> {
    return sort === 'risk' ? this.pageOf(HIGHEST_RISK_FIRST, tenantId, query) : this.pageOf(NEWEST_FIRST, tenantId, query);
  }

  private async pageOf<Place>(
    order: CallOrder<Place>,
    tenantId: string,
    { cursor, limit, ...filter }: Omit<ListCallsQuery, 'sort'>,
  ): Promise<CallPage> {
    const words = wordsIn(filter);
    const after = cursor === undefined ? undefined : order.decode(cursor);
    const everything = Object.keys(filter).length === 0;
    const { tail, answer } = await this.read(tenantId, filter, async (db, known) => ({
      stored: await order.rows(db, { tenantId, filter, words, known, after, limit: limit + 1 }),
      total: everything ? await totalOf(db, tenantId) : undefined,
    }));
    const fresh = [...tail.records.values()].filter(
      (record) => fitting(record, filter, words) && (after === undefined || order.compare(order.placeOf(record), after) > 0),
    );
    const found = [...fresh, ...answer.stored].sort((a, b) => order.compare(order.placeOf(a), order.placeOf(b)));
    const calls = found.slice(0, limit);
    const last = calls.at(-1);
    return {
      calls: calls.map(summaryOf),
      ...(found.length > limit && last !== undefined ? { nextCursor: order.encode(order.placeOf(last)) } : {}),
      ...(answer.total === undefined ? {} : { total: answer.total + tail.added }),
      ...(tail.behind === undefined ? {} : { behind: tail.behind }),
    };
  }

  /** Counts calls. Not exact above 100,000 calls, nor while the rows are too far behind the log. */
  async count(tenantId: string, filter: CallFilter): Promise<CallCount> {
    const words = wordsIn(filter);
    const { tail, answer: stored } = await this.read(tenantId, filter, (db, known) => countOf(db, tenantId, filter, words, known));
    const { behind } = tail;
    const count = stored + [...tail.records.values()].filter((record) => fitting(record, filter, words)).length;
    return { count, exact: behind === undefined && stored < COUNTED, ...(behind === undefined ? {} : { behind }) };
  }

  /** Values to which a list may be narrowed. Not exact above 20,000 calls, nor while the rows are too far behind the log. */
  async facets(tenantId: string, filter: CallFilter): Promise<CallFacets> {
    const words = wordsIn(filter);
    const { tail, answer } = await this.read(tenantId, {}, (db, known) => storedFacets(db, { tenantId, filter, words, known }));
    const fresh = [...tail.records.values()].filter((record) => words.length === 0 || hasWords(record, words));
    return {
      ...withFresh(answer, fresh, filter),
      exact: tail.behind === undefined && answer.exact,
      ...(tail.behind === undefined ? {} : { behind: tail.behind }),
    };
  }

  /** Reads rows and log at one state of the database. A session is in one partition; other filters read all. */
  private read<T>(
    tenantId: string,
    { sessionId }: CallFilter,
    ask: (db: HistoryDatabase, known: readonly string[]) => Promise<T>,
  ): Promise<{ tail: Tail; answer: T }> {
    const partitions =
      sessionId === undefined
        ? partitionNames(this.partitions)
        : [...new Set(sessionId.map((id) => partitionOfRoot(tenantId, id, this.partitions)))];
    return this.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (transaction) => {
        const tail = await readTail(transaction, this.log, partitions, tenantId);
        return { tail, answer: await ask(transaction, [...tail.records.keys()]) };
      });
  }
}

/** Words of the free text of a filter; none without text. */
function wordsIn({ q }: CallFilter): string[] {
  if (q === undefined) return [];
  const words = queryWords(q);
  if (words.length > 0) return words;
  const expected = 'expected at least one letter or digit';
  throw new ProblemError('invalid_request', `The text q has no word to search for: ${expected}.`, {
    errors: [{ pointer: '/q', message: expected }],
  });
}

function fitting(record: CallRecord, filter: CallFilter, words: readonly string[]): boolean {
  return matchesFilter(record, filter) && (words.length === 0 || hasWords(record, words));
}

async function countOf(
  db: HistoryDatabase,
  tenantId: string,
  filter: CallFilter,
  words: readonly string[],
  known: readonly string[],
): Promise<number> {
  const some = db
    .selectFrom('calls')
    .select('id')
    .where((calls) => calls.and([...conditionsOf(calls, tenantId, filter, words), notIn(known)]))
    .limit(COUNTED);
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function totalOf(db: HistoryDatabase, tenantId: string): Promise<number> {
  const { calls } = await db
    .selectFrom('totals')
    .select(({ fn }) => fn.sum<string | null>('calls').as('calls'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return Number(calls ?? 0);
}
