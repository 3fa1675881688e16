import type { CallEvent } from '#contracts';
import { keys } from '#redis';
import { SEGMENT } from '../postings/postings.js';
import { foldRecord, type CallRecord } from '#history';
import { decodeRecord } from '../record/packed-record.js';
import type { Draft } from './draft.js';

/** A call that events have changed. `ordinal`: its number among the tenant's calls in the partition. */
export interface Change {
  readonly tenantId: string;
  readonly ordinal: number;
  /** Undefined: the call is new. */
  readonly before: CallRecord | undefined;
  after: CallRecord;
}

/** One event that moved a call on. */
export interface Step {
  readonly tenantId: string;
  readonly event: CallEvent;
  readonly before: CallRecord | undefined;
  readonly after: CallRecord;
}

export interface Folded {
  /** In the order in which they were first touched; new ones so in that of their ordinals. */
  readonly changes: readonly Change[];
  readonly steps: readonly Step[];
  /** Tenant → how many calls it has in the partition, before and after. */
  readonly counts: ReadonlyMap<string, { readonly before: number; after: number }>;
}

/** The field of the view that counts a tenant's calls. */
export function countField(tenantId: string): string {
  return `n:${tenantId}`;
}

export function recordPlace(partition: string, tenantId: string, ordinal: number): readonly [key: string, field: string] {
  return [keys.viewRecords(partition, tenantId, Math.floor(ordinal / SEGMENT)), String(ordinal % SEGMENT)];
}

/** What the open hash says of a call: where its record is. */
export function formatOpen(ordinal: number, tenantId: string): string {
  return `${ordinal}:${tenantId}`;
}

/**
 * What events of a partition, in their order, make of the records: reads what it needs and changes nothing. The tenants'
 * counts come from `countOf` when the caller has read them already (with the checkpoint that the events follow), else
 * from the view.
 */
export async function foldEvents(
  draft: Draft,
  partition: string,
  events: readonly CallEvent[],
  countOf?: (tenantId: string) => number,
): Promise<Folded> {
  const fold = new Fold(draft, partition, countOf);
  await fold.load(events);
  for (const event of events) fold.apply(event);
  return { changes: [...fold.changes.values()], steps: fold.steps, counts: fold.counts };
}

class Fold {
  readonly changes = new Map<string, Change>();
  readonly steps: Step[] = [];
  readonly counts = new Map<string, { before: number; after: number }>();
  private readonly known = new Map<string, { tenantId: string; ordinal: number; record: CallRecord }>();
  private readonly open: string;
  private readonly view: string;

  constructor(
    private readonly draft: Draft,
    private readonly partition: string,
    private readonly countOf: ((tenantId: string) => number) | undefined,
  ) {
    this.open = keys.viewOpen(partition);
    this.view = keys.view(partition);
  }

  /** Where the calls are that were submitted before, then their records. */
  async load(events: readonly CallEvent[]): Promise<void> {
    const named = new Set<string>();
    for (const event of events) {
      named.add(event.subject);
      if (event.type === 'call.submitted' && event.data.parentCallId !== undefined) named.add(event.data.parentCallId);
    }
    for (const event of events) if (event.type === 'call.submitted') named.delete(event.subject);
    const older = [...named];
    if (older.length > 0) this.draft.want(this.open, ...older);
    if (this.countOf === undefined) {
      const tenants = new Set(events.map(({ tenantid }) => tenantid));
      this.draft.want(this.view, ...[...tenants].map(countField));
    }
    await this.draft.load();
    const places = older.flatMap((callId) => {
      const text = this.draft.text(this.open, callId);
      if (text === undefined) return [];
      const colon = text.indexOf(':');
      return [{ callId, ordinal: Number(text.slice(0, colon)), tenantId: text.slice(colon + 1) }];
    });
    for (const { tenantId, ordinal } of places) {
      const [key, field] = recordPlace(this.partition, tenantId, ordinal);
      this.draft.want(key, field);
    }
    await this.draft.load();
    for (const { callId, tenantId, ordinal } of places) {
      const text = this.draft.text(...recordPlace(this.partition, tenantId, ordinal));
      if (text !== undefined) this.known.set(callId, { tenantId, ordinal, record: decodeRecord(text) });
    }
  }

  apply(event: CallEvent): void {
    const { subject: callId, tenantid: tenantId } = event;
    const known = this.of(callId, tenantId);
    const before = known?.record;
    const after = foldRecord(before, event, (parent) => this.rootOf(parent, tenantId));
    if (after === undefined || after === before) return;
    this.steps.push({ tenantId, event, before, after });
    const change = this.changes.get(callId);
    if (change !== undefined) change.after = after;
    else {
      const ordinal = known?.ordinal ?? this.next(tenantId);
      this.changes.set(callId, { tenantId, ordinal, before, after });
    }
  }

  private of(callId: string, tenantId: string): { ordinal: number; record: CallRecord } | undefined {
    const change = this.changes.get(callId);
    const found = change === undefined ? this.known.get(callId) : { ...change, record: change.after };
    return found?.tenantId === tenantId ? found : undefined;
  }

  /** An ended call answers nothing, whether or not it ended in these very events. */
  private rootOf(callId: string, tenantId: string): string | undefined {
    const record = this.of(callId, tenantId)?.record;
    if (record === undefined || record.status === 'ended') return undefined;
    return record.rootCallId ?? record.id;
  }

  private next(tenantId: string): number {
    let count = this.counts.get(tenantId);
    if (count === undefined) {
      const before = this.countOf?.(tenantId) ?? Number(this.draft.text(this.view, countField(tenantId)) ?? 0);
      count = { before, after: before };
      this.counts.set(tenantId, count);
    }
    return count.after++;
  }
}
