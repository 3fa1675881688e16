import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchStop, Call } from '#contracts';
import type { CallSnapshot, EventHub } from '#event-log';
import { toProblem } from '../platform/http/to-problem.js';
import { nextStep, type BatchSlot, type BatchStep } from './batch.decider.js';
import type { BatchCalls } from './batch-calls.service.js';
import type { DeferredApproval } from '../approvals/approval-deferrals.service.js';
import type { BatchProgress, BatchRecord } from './batch-record.js';
import type { BatchStore } from './batch-store.service.js';
import { INVALID_JSON, NOT_ALL_MAY_RUN, skippedText } from './batch-texts.js';
import { BatchWatches, type KeptText, type WatchedEnd } from './batch-watches.js';

/** How many calls of a batch are worked on at the same time. */
const AT_ONCE = 250;
const BACKOFF_MS = { first: 100, most: 5_000 } as const;
/** Submissions of one call that may fail with an unexpected error; more would keep the batch from ending. */
const MOST_FAULTS = 5;

export interface BatchRunDeps {
  readonly store: Pick<BatchStore, 'progress' | 'saveCallIds' | 'stop' | 'steer' | 'finish'>;
  readonly calls: Pick<
    BatchCalls,
    | 'head'
    | 'rejection'
    | 'submit'
    | 'recordInternalError'
    | 'recordSkipped'
    | 'recordRejected'
    | 'cancelPending'
    | 'releaseApproved'
    | 'cancel'
  >;
  readonly hub: Pick<EventHub, 'watch'>;
  /** Room for the events of ended calls while a client waits for the batch. */
  readonly kept?: KeptText | undefined;
  /** Aborted when this process stops; another one goes on. */
  readonly closing: AbortSignal;
  /** Called for each failed try; the next one follows by itself. */
  readonly failed: (batchId: string, error: unknown) => void;
}

interface Slot {
  readonly readOnly: boolean;
  readonly verdict: BatchSlot['verdict'];
  state: BatchSlot['state'];
  neverRan: boolean;
  faults: number;
  callId?: string;
}

/**
 * One batch, as this gateway brings it forward: look where its calls are → ask the decider → do that → again, until there
 * is nothing to do but wait. It holds no truth: calls are in the log, the rest is in the batch's record, every action may
 * be repeated. So two gateways at the same batch do no harm, and one that starts in the middle knows all it needs.
 */
export class BatchExecutor {
  /** Resolves when the batch has ended or this process stops. */
  readonly over: Promise<void>;
  private readonly slots: Slot[];
  private readonly indexes = new Map<string, number>();
  private readonly watches: BatchWatches;
  /** Calls whose state is not known, or not any more. */
  private readonly unsure = new Set<number>();
  /** Calls whose ids the batch's record does not have yet. */
  private readonly unnoted = new Map<number, string>();
  private stop: BatchStop | undefined;
  private held: ReadonlyMap<string, DeferredApproval>;
  private lookedBefore: number;
  private asked = false;
  private working = false;
  private ended = false;
  private resolveOver: () => void = () => {};

  constructor(
    private readonly batch: BatchRecord,
    private readonly deps: BatchRunDeps,
  ) {
    const { doc, callIds, stop, held } = batch;
    this.watches = new BatchWatches(deps.hub, deps.kept, (callId, end) => this.callEnded(callId, end));
    this.stop = stop;
    this.held = held;
    this.lookedBefore = doc.sessionId === undefined ? Infinity : 0;
    this.slots = doc.readOnly.map((readOnly, index) => ({
      readOnly,
      verdict: doc.verdicts[index] ?? 'allow',
      state: 'pending',
      neverRan: false,
      faults: 0,
    }));
    for (const [index, callId] of callIds) this.submitted(index, callId);
    this.unnoted.clear();
    this.over = new Promise((resolve) => (this.resolveOver = resolve));
  }

  /** Something happened: look. Any number of pokes while it works are one more look. */
  poke(): void {
    this.asked = true;
    if (!this.working) void this.work();
  }

  /** Never rejects. */
  private async work(): Promise<void> {
    this.working = true;
    for (let failures = 0; this.asked && !this.isOver();) {
      this.asked = false;
      try {
        await this.advance();
        failures = 0;
      } catch (error) {
        this.asked = true;
        this.deps.failed(this.batch.doc.id, error);
        const backoff = Math.min(BACKOFF_MS.first * 2 ** failures++, BACKOFF_MS.most);
        await sleep(backoff, undefined, { ref: false, signal: this.deps.closing }).catch(() => {});
      }
    }
    this.working = false;
    if (!this.isOver()) return;
    this.watches.close();
    this.resolveOver();
  }

  /** An ended call of the batch, out of its events; undefined when it has to be read. */
  endedCall(callId: string): Call | undefined {
    return this.watches.callOf(callId);
  }

  /** The client that waited has its answer. */
  forgetEnded(): void {
    this.watches.forget();
  }

  private isOver(): boolean {
    return this.ended || this.deps.closing.aborted;
  }

  private async advance(): Promise<void> {
    await this.note();
    await this.observe();
    await this.refresh();
    const { strategy, onFailure } = this.batch.doc;
    while (!this.isOver()) {
      const step = nextStep({ strategy, onFailure, slots: this.slots, stop: this.stop?.reason, lookedBefore: this.lookedBefore });
      if (step.kind === 'wait') return;
      await this.take(step);
    }
  }

  private async take(step: Exclude<BatchStep, { kind: 'wait' }>): Promise<void> {
    const { store } = this.deps;
    const { doc } = this.batch;
    switch (step.kind) {
      case 'submit': {
        const rejection = this.deps.calls.rejection(this.batch);
        if (rejection === undefined) await this.each(step.indexes, (index) => this.start(index));
        else await store.stop(doc.id, { reason: 'forbidden', detail: rejection.detail });
        return this.refresh();
      }
      case 'skip':
        return this.each(step.indexes, (index) => this.skip(index));
      case 'cancel':
        return this.each(step.indexes, (index) => this.cancel(index));
      case 'abort':
        await store.stop(doc.id, { reason: 'aborted', detail: step.malformed ? INVALID_JSON : NOT_ALL_MAY_RUN });
        return this.refresh();
      case 'look':
        if (await store.steer(doc, { reason: 'steered', detail: 'a person sent a message' })) await this.refresh();
        this.lookedBefore = step.group;
        return;
      case 'finish':
        await store.finish(
          doc,
          this.slots.flatMap(({ callId }, index) => (callId === undefined ? [] : [[index, callId] as const])),
        );
        this.ended = true;
        return;
      default:
        return step satisfies never;
    }
  }

  /** Nothing when the key was lost since the step began: the next step stops the batch. */
  private async start(index: number): Promise<void> {
    if (this.deps.calls.rejection(this.batch) !== undefined) return;
    const { callId, state } = this.slotAt(index);
    const approval = callId === undefined ? undefined : this.held.get(callId);
    if (state !== 'approved' || callId === undefined || approval === undefined) {
      return this.submit(index);
    }
    await this.deps.calls.releaseApproved(this.batch, callId, approval);
    this.unsure.add(index);
  }

  private async submit(index: number): Promise<void> {
    const { calls, failed } = this.deps;
    let newId: string | undefined;
    try {
      const watch = (callId: string) => this.watches.add((newId = callId));
      const { callId, status } = await calls.submit(this.batch, index, watch);
      this.submitted(index, callId);
      // Without its watch it may have ended meanwhile.
      if (status !== undefined && this.watches.has(callId)) this.place(index, { callId, status, attempt: 0 });
    } catch (error) {
      if (toProblem(error).code !== 'internal' || ++this.slotAt(index).faults < MOST_FAULTS) throw error;
      failed(this.batch.doc.id, error);
      this.submitted(index, await calls.recordInternalError(this.batch, index));
    } finally {
      if (newId !== undefined && newId !== this.slotAt(index).callId) this.watches.remove(newId);
    }
  }

  private async skip(index: number): Promise<void> {
    const { calls } = this.deps;
    const { callId, state, verdict } = this.slotAt(index);
    if (this.stop === undefined) return;
    const text = skippedText(this.stop, state);
    if (callId !== undefined) {
      await calls.cancelPending(this.batch, callId, text, this.held.get(callId));
      this.unsure.add(index);
      return;
    }
    const isCulprit = this.stop.reason === 'aborted' && (verdict === 'refused' || verdict === 'malformed');
    const record = isCulprit ? calls.recordRejected(this.batch, index, text) : calls.recordSkipped(this.batch, index, text);
    this.submitted(index, await record);
  }

  private async cancel(index: number): Promise<void> {
    const slot = this.slotAt(index);
    if (slot.callId === undefined) return;
    await this.deps.calls.cancel(this.batch, slot.callId, this.stop?.detail ?? 'The batch was cancelled');
    slot.state = 'stopping';
    this.unsure.add(index);
  }

  /** Does it for all, a few hundred at a time, and then looks where the calls are. Rejects with the first failure, when all of them were tried. */
  private async each(indexes: readonly number[], action: (index: number) => Promise<void>): Promise<void> {
    for (let from = 0; from < indexes.length && !this.isOver(); from += AT_ONCE) {
      const some = indexes.slice(from, from + AT_ONCE);
      const results = await Promise.allSettled(some.map(action));
      await this.note();
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
      await this.observe();
    }
  }

  /** Writes down which calls there are, those of a try that failed too: a batch must not end without one. */
  private async note(): Promise<void> {
    const calls = [...this.unnoted];
    await this.deps.store.saveCallIds(this.batch.doc.id, calls);
    for (const [index, callId] of calls) if (this.unnoted.get(index) === callId) this.unnoted.delete(index);
  }

  /** What others may have said about this batch: stop, ended, yes. */
  private async refresh(): Promise<void> {
    const asking = this.slots.flatMap(({ state, callId }) =>
      callId !== undefined && (state === 'asking' || state === 'approved') ? [callId] : [],
    );
    const { stop, endedAt, held }: BatchProgress = await this.deps.store.progress(this.batch.doc.id, asking);
    this.stop = stop;
    this.held = held;
    this.ended ||= endedAt !== undefined;
    for (const slot of this.slots)
      if (slot.state === 'asking' && slot.callId !== undefined && held.has(slot.callId)) slot.state = 'approved';
  }

  private submitted(index: number, callId: string): void {
    const slot = this.slotAt(index);
    slot.callId = callId;
    this.indexes.set(callId, index);
    this.unnoted.set(index, callId);
    if (slot.state === 'pending') slot.state = 'open';
    this.unsure.add(index);
  }

  /** Looks where the calls are that are not known to be anywhere, and watches those that go on. */
  private async observe(): Promise<void> {
    await Promise.all([...this.unsure].map((index) => this.observeOne(index)));
  }

  private async observeOne(index: number): Promise<void> {
    const { callId } = this.slotAt(index);
    if (callId === undefined) return;
    this.watches.add(callId);
    this.place(index, await this.deps.calls.head(callId));
  }

  /** `end`: what its events say; without, its state has to be read. */
  private callEnded(callId: string, end: WatchedEnd): void {
    const index = this.indexes.get(callId);
    if (index === undefined) return;
    const slot = this.slotAt(index);
    if (slot.callId !== callId || slot.state === 'ended') return;
    if (end === undefined) this.unsure.add(index);
    else this.end(index, end.neverRan);
    this.poke();
  }

  private place(index: number, head: Pick<CallSnapshot, 'callId' | 'status' | 'attempt'> | undefined): void {
    const slot = this.slotAt(index);
    // Its End may have been seen while its state was on the way.
    if (slot.state === 'ended') return;
    this.unsure.delete(index);
    if (head === undefined) {
      // The log was rolled back past its submission: it is submitted again.
      slot.state = 'pending';
      if (slot.callId !== undefined) this.watches.remove(slot.callId);
      delete slot.callId;
    } else if (head.status === 'ended') {
      this.watches.remove(head.callId);
      this.end(index, head.attempt === 0);
    } else if (head.status === 'waiting_approval' && this.batch.doc.onFailure === 'abort') {
      slot.state = this.held.has(head.callId) ? 'approved' : 'asking';
    } else if (slot.state !== 'stopping') slot.state = 'open';
  }

  private end(index: number, neverRan: boolean): void {
    const slot = this.slotAt(index);
    slot.state = 'ended';
    slot.neverRan = neverRan;
    this.unsure.delete(index);
  }

  private slotAt(index: number): Slot {
    const slot = this.slots[index];
    if (slot === undefined) throw new RangeError(`The batch ${this.batch.doc.id} has no call ${index}`);
    return slot;
  }
}
