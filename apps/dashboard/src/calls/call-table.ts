import { changesCall, type CallEvent, type CallFilter, type CallSummary } from '#contracts';
import { FrameStore } from '../stream/frame-store.js';
import { byNewest, foldRow, rowOfSummary, type CallRow } from './call-row.js';
import { rowMatches } from './row-matches.js';

/** The most rows kept in the browser. */
export const KEPT_ROWS = 5000;

/**
 * The calls of a list, newest first: loaded from the gateway, updated by events. Beyond `KEPT_ROWS` the oldest ended calls are
 * dropped first, then the oldest. A call that no longer matches the filter is removed.
 */
export class CallTable extends FrameStore {
  private readonly rows = new Map<string, CallRow>();
  /** The ids of `rows`, newest first but for those that came since the last list: sorting what is nearly sorted is quick. */
  private order: { readonly id: string }[] = [];
  /** Calls that the gateway returned for this filter: they match fields that events do not have. */
  private readonly found = new Set<string>();
  /** Number of pages of the gateway's list that `list` has. */
  loadedPages = 0;

  constructor(
    private readonly filter: CallFilter,
    private readonly kept: number = KEPT_ROWS,
  ) {
    super();
  }

  /** Adds a response of the gateway. Newer events are not reverted. */
  answer(calls: readonly CallSummary[]): void {
    for (const call of calls) {
      this.found.add(call.id);
      const known = this.rows.get(call.id);
      if (known !== undefined && rank(known) > rank(call)) continue;
      // Only events say that a cancel was asked for.
      this.put({ ...known, ...rowOfSummary(call), cancelling: known?.cancelling === true && call.status !== 'ended' });
    }
    this.trim();
    this.changed();
  }

  /** Adds all pages that were loaded, the newest first. */
  answerPages(pages: readonly { readonly calls: readonly CallSummary[] }[]): void {
    this.loadedPages = pages.length;
    for (const { calls } of pages) this.answer(calls);
  }

  events(events: readonly CallEvent[]): void {
    let any = false;
    for (const event of events) {
      if (!changesCall(event.type)) continue;
      this.put(foldRow(this.rows.get(event.subject), event));
      any = true;
    }
    if (!any) return;
    this.trim();
    this.changed();
  }

  /** The rows to show, newest first. */
  list(): CallRow[] {
    const shown: CallRow[] = [];
    for (const { id } of this.order.sort(byNewest)) {
      const row = this.rows.get(id);
      if (row && (rowMatches(row, this.filter) ?? this.found.has(id))) shown.push(row);
    }
    return shown;
  }

  get size(): number {
    return this.rows.size;
  }

  private put(row: CallRow): void {
    if (!this.rows.has(row.id)) this.order.push({ id: row.id });
    this.rows.set(row.id, row);
  }

  /** Drops many rows at once, so that sorting is rare. */
  private trim(): void {
    if (this.rows.size <= this.kept * 1.1) return;
    const dispensable = [...this.rows.values()].sort(
      (a, b) => Number(a.status === 'ended') - Number(b.status === 'ended') || byNewest(a, b),
    );
    for (const row of dispensable.slice(this.kept)) {
      this.rows.delete(row.id);
      this.found.delete(row.id);
    }
    this.order = this.order.filter(({ id }) => this.rows.has(id));
  }
}

const ORDER = { waiting_approval: 0, queued: 1, running: 2, waiting_input: 3, ended: 1_000_000 } as const;

/** The progress of a call as a number: the attempt first, since a call returns to the queue after a failure, a sleep and an input. */
function rank({ status, attempt, retrying, suspended = false }: Progress): number {
  return ORDER[status] + attempt * 4 + (suspended ? 3 : retrying ? 2 : 0);
}

type Progress = Pick<CallRow, 'status' | 'attempt' | 'retrying'> & { readonly suspended?: boolean | undefined };
