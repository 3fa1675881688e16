import { sql } from 'kysely';
import { FACET_FIELDS, FACETS, type CallFilter, type FacetField, type FacetValue } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';
import type { CallRecord } from '../record/call-record.js';
import { matchesFilter } from '../record/matches-filter.js';
import { conditionsOf } from './call-filter.js';
import { notIn, type WantedRows } from './newest-rows.js';

type FacetRequest = Pick<WantedRows, 'tenantId' | 'filter' | 'words' | 'known'>;
type Facets = Readonly<Record<FacetField, readonly FacetValue[]>>;

const COLUMNS = {
  status: 'status',
  outcome: 'outcome',
  tool: 'tool',
  agentId: 'agent_id',
  sessionId: 'session_id',
  pool: 'pool',
  risk: 'risk',
} as const satisfies Record<FacetField, string>;

/** Values by field of the matching rows, more than an answer has: those of newer events are added. */
export async function storedFacets(db: HistoryDatabase, request: FacetRequest): Promise<Facets & { readonly exact: boolean }> {
  const free = FACET_FIELDS.filter((field) => request.filter[field] === undefined);
  const named = FACET_FIELDS.filter((field) => request.filter[field] !== undefined);
  const rows: StoredValue[] = [];
  // Fields outside the filter are counted together, over the same rows.
  for (const fields of [free, ...named.map((field) => [field])]) if (fields.length > 0) rows.push(...(await valuesOf(db, request, fields)));
  const of = (field: FacetField) =>
    rows.flatMap((row) => (row.field === field && row.value !== null ? [{ value: row.value, count: row.count }] : []));
  return { ...byField(of), exact: rows.every(({ count }) => count < FACETS.counted) };
}

/** Adds the calls that only the log contains, and cuts the facets to the limit of an answer. */
export function withFresh(stored: Facets, fresh: readonly CallRecord[], filter: CallFilter): Record<FacetField, FacetValue[]> {
  return byField((field) => {
    const others = without(filter, field);
    const counts = new Map(stored[field].map(({ value, count }) => [value, count]));
    for (const record of fresh) {
      const value = record[field];
      if (value !== undefined && matchesFilter(record, others)) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return [...counts]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, FACETS.values);
  });
}

interface StoredValue {
  readonly field: FacetField;
  /** Null in the row with the number of all examined calls. */
  readonly value: string | null;
  readonly count: number;
}

/** Values of the newest rows only, which bounds the work. Free text is not ordered: a rare word would walk all calls. */
async function valuesOf(db: HistoryDatabase, { tenantId, filter, words, known }: FacetRequest, fields: readonly FacetField[]) {
  const others = fields.length === 1 && fields[0] !== undefined ? without(filter, fields[0]) : filter;
  const examined = db
    .selectFrom('calls')
    .select(['status', 'outcome', 'tool', 'agent_id', 'session_id', 'pool', 'risk'])
    .where((calls) => calls.and([...conditionsOf(calls, tenantId, others, words), notIn(known)]))
    .$if(words.length === 0, (query) => query.orderBy('submitted_at', 'desc'))
    .limit(FACETS.counted);
  const parts = fields.map(
    (field) => sql`(select ${sql.lit(field)} as field, ${sql.ref(COLUMNS[field])} as value, count(*) as count from examined
      where ${sql.ref(COLUMNS[field])} is not null group by 2 order by 3 desc, 2 limit ${sql.lit(5 * FACETS.values)})`,
  );
  const { rows } = await sql<StoredValue>`with examined as materialized (${examined})
    ${sql.join(parts, sql` union all `)}
    union all select ${sql.lit(fields[0] ?? '')}, null, count(*) from examined`.execute(db);
  return rows;
}

function without(filter: CallFilter, field: FacetField): CallFilter {
  const { [field]: _named, ...others } = filter;
  return others;
}

function byField<Value>(of: (field: FacetField) => Value): Record<FacetField, Value> {
  return {
    status: of('status'),
    outcome: of('outcome'),
    tool: of('tool'),
    agentId: of('agentId'),
    sessionId: of('sessionId'),
    pool: of('pool'),
    risk: of('risk'),
  };
}
