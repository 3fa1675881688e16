import { Risk } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';
import type { CallRecord } from '../record/call-record.js';
import { newestRows, type WantedRows } from './newest-rows.js';
import { decodePlace, encodePlace, type PagePlace } from './page-cursor.js';

/** Order of a list. `Place`: position of a call in it, constant for the life of the call. */
export interface CallOrder<Place> {
  /** Matching rows after a place, in this order. */
  readonly rows: (db: HistoryDatabase, wanted: RowsAfter<Place>) => Promise<CallRecord[]>;
  readonly placeOf: (record: CallRecord) => Place;
  /** Negative: `a` comes first. */
  readonly compare: (a: Place, b: Place) => number;
  readonly encode: (place: Place) => string;
  /** Throws `invalid_request` for anything but a cursor of this order. */
  readonly decode: (cursor: string) => Place;
}

type RowsAfter<Place> = Omit<WantedRows, 'after' | 'risk'> & { readonly after: Place | undefined };

interface RankedPlace {
  readonly rank: number;
  readonly place: PagePlace;
}

/** Risks, highest first; calls that were not evaluated come last. */
const RANKS: readonly (Risk | undefined)[] = [...Risk.options.toReversed(), undefined];

export const NEWEST_FIRST: CallOrder<PagePlace> = {
  rows: newestRows,
  placeOf: ({ submittedAt, id }) => ({ time: submittedAt, id }),
  // Order of the database: by time, then by the bytes of the id.
  compare: (a, b) => (a.time !== b.time ? b.time - a.time : a.id === b.id ? 0 : a.id < b.id ? 1 : -1),
  encode: encodePlace,
  decode: decodePlace,
};

/** Order by risk, then newest first. */
export const HIGHEST_RISK_FIRST: CallOrder<RankedPlace> = {
  rows: rowsByRisk,
  placeOf: (record) => ({ rank: RANKS.indexOf(record.risk), place: NEWEST_FIRST.placeOf(record) }),
  compare: (a, b) => a.rank - b.rank || NEWEST_FIRST.compare(a.place, b.place),
  encode: ({ rank, place }) => `${rank}.${encodePlace(place)}`,
  decode: (cursor) => {
    const [, rank, place] = /^([0-3])\.(.+)$/.exec(cursor) ?? [];
    // `decodePlace` rejects a malformed cursor.
    return { rank: Number(rank), place: decodePlace(place ?? '') };
  },
};

/** Reads one risk after the other, by the index `calls_by_risk`, until there are enough rows. */
async function rowsByRisk(db: HistoryDatabase, { after, limit, ...wanted }: RowsAfter<RankedPlace>): Promise<CallRecord[]> {
  const { risk: risks } = wanted.filter;
  const found: CallRecord[] = [];
  for (const [rank, risk] of RANKS.entries()) {
    if (rank < (after?.rank ?? 0) || found.length === limit) continue;
    if (risks !== undefined && (risk === undefined || !risks.includes(risk))) continue;
    const place = rank === after?.rank ? after.place : undefined;
    found.push(...(await newestRows(db, { ...wanted, risk: risk ?? null, after: place, limit: limit - found.length })));
  }
  return found;
}
