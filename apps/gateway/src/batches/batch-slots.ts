import type { CallSnapshot } from '#event-log';
import type { DeferredApproval } from '../approvals/approval-deferrals.service.js';
import type { BatchSlot } from './batch.decider.js';
import type { BatchRecord } from './batch-record.js';

interface Slot {
  readonly readOnly: boolean;
  readonly verdict: BatchSlot['verdict'];
  state: BatchSlot['state'];
  notStarted: boolean;
  internalErrors: number;
  callId?: string;
}

const UNSUBMITTED: ReadonlySet<BatchSlot['state']> = new Set(['pending', 'asking', 'approved']);

type DeferredApprovals = ReadonlyMap<string, DeferredApproval>;

/** States of the calls of one batch, as far as this process knows them: the decider's facts, one slot per call. */
export class BatchSlots {
  readonly all: readonly Slot[];
  private readonly indexes = new Map<string, number>();
  /** Calls whose state is unknown or outdated. */
  private readonly stale = new Set<number>();
  /** Calls whose ids are not yet in the batch's record. */
  private readonly unsaved = new Map<number, string>();
  private readonly keepsQuestions: boolean;
  private readonly batchId: string;

  constructor({ doc, callIds }: BatchRecord) {
    this.batchId = doc.id;
    this.keepsQuestions = doc.onFailure === 'abort';
    this.all = doc.readOnly.map((readOnly, index) => ({
      readOnly,
      verdict: doc.verdicts[index] ?? 'allow',
      state: 'pending',
      notStarted: false,
      internalErrors: 0,
    }));
    for (const [index, callId] of callIds) this.submitted(index, callId);
    this.unsaved.clear();
  }

  /** @throws RangeError for an index outside the batch */
  at(index: number): Slot {
    const slot = this.all[index];
    if (slot === undefined) throw new RangeError(`The batch ${this.batchId} has no call ${index}`);
    return slot;
  }

  /** Index of a call that has not ended; undefined for a call that is not, or no longer, of this batch. */
  openIndexOf(callId: string): number | undefined {
    const index = this.indexes.get(callId);
    if (index === undefined) return undefined;
    const slot = this.at(index);
    return slot.callId === callId && slot.state !== 'ended' ? index : undefined;
  }

  /**
   * False while all calls are submitted and some have not ended: the End of another one leads to no step, but for one under `abort`
   * that never started.
   */
  mayStep(): boolean {
    return (
      this.stale.size > 0 ||
      this.all.every(({ state }) => state === 'ended') ||
      this.all.some(({ state, notStarted }) => UNSUBMITTED.has(state) || (this.keepsQuestions && notStarted))
    );
  }

  staleIndexes(): number[] {
    return [...this.stale];
  }

  markStale(index: number): void {
    this.stale.add(index);
  }

  callIds(): [index: number, callId: string][] {
    return this.all.flatMap(({ callId }, index): [number, string][] => (callId === undefined ? [] : [[index, callId]]));
  }

  unsavedCallIds(): [index: number, callId: string][] {
    return [...this.unsaved];
  }

  saved(calls: readonly (readonly [index: number, callId: string])[]): void {
    for (const [index, callId] of calls) if (this.unsaved.get(index) === callId) this.unsaved.delete(index);
  }

  submitted(index: number, callId: string): void {
    const slot = this.at(index);
    slot.callId = callId;
    this.indexes.set(callId, index);
    this.unsaved.set(index, callId);
    if (slot.state === 'pending') slot.state = 'open';
    this.stale.add(index);
  }

  /** Calls that wait for a person, or for the batch after their approval. */
  questions(): string[] {
    return this.all.flatMap(({ state, callId }) => (callId !== undefined && (state === 'asking' || state === 'approved') ? [callId] : []));
  }

  approve(deferred: DeferredApprovals): void {
    for (const slot of this.all)
      if (slot.state === 'asking' && slot.callId !== undefined && deferred.has(slot.callId)) slot.state = 'approved';
  }

  cancelled(index: number): void {
    this.at(index).state = 'stopping';
    this.stale.add(index);
  }

  ended(index: number, notStarted: boolean): void {
    const slot = this.at(index);
    slot.state = 'ended';
    slot.notStarted = notStarted;
    this.stale.delete(index);
  }

  /**
   * Applies the log's state of a call. Without a snapshot the log was rolled back past its submission, and the call is
   * submitted again. Returns the call whose watch is no longer needed.
   */
  update(
    index: number,
    snapshot: Pick<CallSnapshot, 'callId' | 'status' | 'attempt'> | undefined,
    deferred: DeferredApprovals,
  ): string | undefined {
    const slot = this.at(index);
    // Ignores an outdated state: the End may have been seen during the read.
    if (slot.state === 'ended') return undefined;
    this.stale.delete(index);
    if (snapshot === undefined) {
      const { callId } = slot;
      slot.state = 'pending';
      delete slot.callId;
      return callId;
    }
    if (snapshot.status === 'ended') {
      this.ended(index, snapshot.attempt === 0);
      return snapshot.callId;
    }
    if (snapshot.status === 'waiting_approval' && this.keepsQuestions) {
      slot.state = deferred.has(snapshot.callId) ? 'approved' : 'asking';
    } else if (slot.state !== 'stopping') slot.state = 'open';
    return undefined;
  }
}
