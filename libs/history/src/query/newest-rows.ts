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
  /** The words of its free text. */
  readonly words: readonly string[];
  /** Only calls of this risk; null: of none. Absent: all. */
  readonly risk?: Risk | null;
  /** Calls that the log knows better. */
  readonly known: readonly string[];
  /** What the rows come after. */
  readonly after: PagePlace | undefined;
  readonly limit: number;
}

/** How many of the newest calls are walked for the words before the index of words is asked. */
const WALKED = 2_000;
/** Up to how many calls that the index of words finds are sorted. */
const SORTED = 10_000;

/**
 * Rows that fit, newest first. The planner takes every beginning of a word for one that 2 % of the calls have. So it would walk
 * all calls for a word that few of them have. What a word is shows here: a common one is found among the newest calls, a rare
 * one by the index of words, and what lies between by walking on.
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

/** Rows that fit among the newest. */
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

/** Rows that the index of words finds; undefined where these are too many to be sorted. */
async function sortFound(db: HistoryDatabase, wanted: WantedRows): Promise<CallRecord[] | undefined> {
  const rows = await db
    // A part of its own, so that the planner does not look for the order while it looks for the words.
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
