import { type ExpressionBuilder, sql } from 'kysely';
import type { CallFilter, Risk } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';
import type { CallRecord } from '../record/call-record.js';
import { recordOf } from '../rows/call-row.js';
import { RECORD_COLUMNS } from '../rows/fold-events.js';
import type { HistoryTables } from '../database/tables.js';
import { conditionsOf } from './call-filter.js';
import type { PagePlace } from './page-cursor.js';

export interface WantedRows {
  readonly tenantId: string;
  readonly filter: CallFilter;
  /** Words of its free text. */
  readonly words: readonly string[];
  /** Restricts to calls of this risk; null: without risk. Absent: all. */
  readonly risk?: Risk | null;
  /** Calls with newer events in the log, left out. */
  readonly known: readonly string[];
  /** Place after which the rows begin. */
  readonly after: PagePlace | undefined;
  readonly limit: number;
}

/** Number of newest calls that are searched for the words before the index of words is used. */
const WALKED = 2_000;
/** Most calls from the index of words that are sorted. */
const SORTED = 10_000;

/**
 * Matching rows, newest first. The planner assumes that every prefix occurs in 2 % of the calls, and would walk all calls for a
 * rare word. Therefore common words are searched among the newest calls, rare ones by the index of words, and the others by
 * walking on.
 */
export async function newestRows(db: HistoryDatabase, wanted: WantedRows): Promise<CallRecord[]> {
  if (wanted.words.length === 0) return walk(db, wanted);
  const common = await walkNewest(db, wanted);
  if (common.length === wanted.limit) return common;
  return (await sortFound(db, wanted)) ?? walk(db, wanted);
}

async function walk(db: HistoryDatabase, wanted: WantedRows): Promise<CallRecord[]> {
  const rows = await db
    .selectFrom('calls')
    .select(RECORD_COLUMNS)
    .where((calls) => calls.and(conditionsOfRows(calls, wanted)))
    .where(isAfter(wanted.after))
    .orderBy('submitted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(wanted.limit)
    .execute();
  return rows.map(recordOf);
}

/** Matching rows among the newest calls. */
async function walkNewest(db: HistoryDatabase, wanted: WantedRows): Promise<CallRecord[]> {
  const newest = db
    .selectFrom('calls')
    .selectAll()
    .where('tenant_id', '=', wanted.tenantId)
    .where(isOf(wanted.risk))
    .where(isAfter(wanted.after))
    .orderBy('submitted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(WALKED);
  const rows = await db
    .selectFrom(newest.as('calls'))
    .select(RECORD_COLUMNS)
    .where((calls) => calls.and(conditionsOfRows(calls, wanted)))
    .orderBy('submitted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(wanted.limit)
    .execute();
  return rows.map(recordOf);
}

/** Rows from the index of words; undefined if there are too many to sort. */
async function sortFound(db: HistoryDatabase, wanted: WantedRows): Promise<CallRecord[] | undefined> {
  const rows = await db
    // Materialized, so that the planner does not combine the search for words with the order.
    .with(
      (name) => name('found').materialized(),
      (query) =>
        query
          .selectFrom('calls')
          .select(RECORD_COLUMNS)
          .where((calls) => calls.and(conditionsOfRows(calls, wanted)))
          .where(isAfter(wanted.after)),
    )
    .selectFrom((query) =>
      query
        .selectFrom('found')
        .selectAll()
        .limit(SORTED + 1)
        .as('some'),
    )
    .selectAll()
    .select(({ fn }) => fn.countAll<number>().over().as('matches'))
    .orderBy('submitted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(wanted.limit)
    .execute();
  return (rows[0]?.matches ?? 0) > SORTED ? undefined : rows.map(recordOf);
}

function conditionsOfRows(calls: ExpressionBuilder<HistoryTables, 'calls'>, { tenantId, filter, words, known, risk }: WantedRows) {
  return [...conditionsOf(calls, tenantId, filter, words), notIn(known), isOf(risk)];
}

function isOf(risk: Risk | null | undefined) {
  if (risk === undefined) return sql<boolean>`true`;
  return risk === null ? sql<boolean>`risk is null` : sql<boolean>`risk = ${risk}`;
}

function isAfter(place: PagePlace | undefined) {
  return place === undefined ? sql<boolean>`true` : sql<boolean>`(submitted_at, id) < (${new Date(place.time)}::timestamptz, ${place.id})`;
}

export function notIn(callIds: readonly string[]) {
  return callIds.length === 0 ? sql<boolean>`true` : sql<boolean>`id <> all(${callIds}::text[])`;
}
