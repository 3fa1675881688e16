import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchStop } from '#contracts';
import type { EventHub } from '#event-log';
import { backoffMs } from '#timing';
import { LARGE_SIZE, sizeLeft, type FairTurns } from '../platform/fair-turns.service.js';
import { toProblem } from '../platform/http/to-problem.js';
import { nextStep, type BatchStep } from './batch.decider.js';
import type { BatchCalls } from './batch-calls.service.js';
import type { DeferredApproval } from '../approvals/approval-deferrals.service.js';
import type { CallForResult } from './batch-reader.service.js';
import type { BatchProgress, BatchRecord } from './batch-record.js';
import { BatchSlots } from './batch-slots.js';
import type { BatchStore } from './batch-store.service.js';
import { INVALID_JSON, NOT_ALL_MAY_RUN, skippedText } from './batch-texts.js';
import { BatchWatches, type TextBudget, type WatchedEnd } from './batch-watches.js';

/** Most concurrent actions of a batch. */
const AT_ONCE = 250;
/** Calls of one turn of the event loop, fewer of large ones. */
const CALLS_A_TURN = 25;
const BACKOFF = { firstMs: 100, maxMs: 5_000 };
/** Consecutive failures after which the rest waits for the next try. */
const FAILURES_IN_ROW = 4;
/** Most internal errors of one call's submission; more would keep the batch from ending. */
const MAX_INTERNAL_ERRORS = 5;

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
  readonly turns: Pick<FairTurns, 'next'>;
  /** Memory for events of ended calls while a client waits for the batch. */
  readonly textBudget?: TextBudget | undefined;
  /** Aborts when this process stops; another gateway continues. */
  readonly closing: AbortSignal;
  /** Called for each failed try; the next one follows automatically. */
  readonly failed: (batchId: string, error: unknown) => void;
}

/**
 * Executes one batch at this gateway: read the state of its calls → decide the next step → act → repeat, until only waiting is
 * left. Owns no state: calls are in the log, the rest is in the batch's record, every action is idempotent. So two gateways may
 * execute the same batch, and one may start in the middle.
 */
export class BatchExecutor {
  /** Resolves when the batch has ended or this process stops. */
  readonly done: Promise<void>;
  private readonly slots: BatchSlots;
  private readonly watches: BatchWatches;
  private stop: BatchStop | undefined;
  private deferred: ReadonlyMap<string, DeferredApproval>;
  private steeringCheckedUpTo: number;
  /** Concurrent actions: one after a failure, such as a tenant without room, then doubled each time. */
  private atOnce = AT_ONCE;
  /** Last call whose action failed: the next try begins after it. */
  private lastFailed = -1;
  /** True if an action of this try has succeeded; the next try then comes soon. */
  private hasProgressed = false;
  private isScheduled = false;
  private isWorking = false;
  private hasEnded = false;
  private resolveDone: () => void = () => {};

  constructor(
    private readonly batch: BatchRecord,
    private readonly deps: BatchRunDeps,
  ) {
    const { doc, stop, deferred } = batch;
    this.watches = new BatchWatches(deps.hub, deps.textBudget, (callId, end) => this.callEnded(callId, end));
    this.stop = stop;
    this.deferred = deferred;
    this.steeringCheckedUpTo = doc.sessionId === undefined ? Infinity : 0;
    this.slots = new BatchSlots(batch);
    this.done = new Promise((resolve) => (this.resolveDone = resolve));
  }

  /** Schedules another round of steps. Repetitions during a round yield one more round. */
  schedule(): void {
    this.isScheduled = true;
    if (!this.isWorking) void this.work();
  }

  /** Ended call of the batch, from its events; undefined if it has to be read. */
  endedCall(callId: string): CallForResult | undefined {
    return this.watches.callOf(callId);
  }

  /** Frees the stored events after the waiting client got its answer. */
  forgetEnded(): void {
    this.watches.forget();
  }

  /** Never rejects. */
  private async work(): Promise<void> {
    this.isWorking = true;
    for (let failures = 0; this.isScheduled && !this.isDone();) {
      this.isScheduled = false;
      this.hasProgressed = false;
      try {
        await this.takeSteps();
        failures = 0;
      } catch (error) {
        this.isScheduled = true;
        this.deps.failed(this.batch.doc.id, error);
        failures = this.hasProgressed ? 1 : failures + 1;
        await sleep(backoffMs(failures, BACKOFF), undefined, { ref: false, signal: this.deps.closing }).catch(() => {});
      }
    }
    this.isWorking = false;
    if (!this.isDone()) return;
    this.watches.close();
    this.resolveDone();
  }

  private isDone(): boolean {
    return this.hasEnded || this.deps.closing.aborted;
  }

  private async takeSteps(): Promise<void> {
    await this.saveCallIds();
    await this.refreshSlots();
    await this.refreshRecord();
    const { strategy, onFailure } = this.batch.doc;
    while (!this.isDone()) {
      const { steeringCheckedUpTo } = this;
      const step = nextStep({ strategy, onFailure, slots: this.slots.all, stop: this.stop?.reason, steeringCheckedUpTo });
      if (step.kind === 'wait') return;
      await this.apply(step);
    }
  }

  private async apply(step: Exclude<BatchStep, { kind: 'wait' }>): Promise<void> {
    const { store } = this.deps;
    const { doc } = this.batch;
    switch (step.kind) {
      case 'submit': {
        const rejection = this.deps.calls.rejection(this.batch);
        if (rejection === undefined) await this.each(step.indexes, (index) => this.start(index));
        else await store.stop(doc.id, { reason: 'forbidden', detail: rejection.detail });
        return this.refreshRecord();
      }
      case 'skip':
        return this.each(step.indexes, (index) => this.skip(index));
      case 'cancel':
        return this.each(step.indexes, (index) => this.cancel(index));
      case 'abort':
        await store.stop(doc.id, { reason: 'aborted', detail: step.malformed ? INVALID_JSON : NOT_ALL_MAY_RUN });
        return this.refreshRecord();
      case 'checkSteering':
        if (await store.steer(doc, { reason: 'steered', detail: 'a person sent a message' })) await this.refreshRecord();
        this.steeringCheckedUpTo = step.group;
        return;
      case 'finish':
        await store.finish(doc, this.slots.callIds());
        this.hasEnded = true;
        return;
      default:
        return step satisfies never;
    }
  }

  /** Does nothing if the key was revoked since the step began: the next step stops the batch. */
  private async start(index: number): Promise<void> {
    if (this.deps.calls.rejection(this.batch) !== undefined) return;
    const { callId, state } = this.slots.at(index);
    const approval = callId === undefined ? undefined : this.deferred.get(callId);
    if (state !== 'approved' || callId === undefined || approval === undefined) {
      return this.submit(index);
    }
    await this.deps.calls.releaseApproved(this.batch, callId, approval);
    this.slots.markStale(index);
  }

  private async submit(index: number): Promise<void> {
    const { calls, failed } = this.deps;
    let newId: string | undefined;
    try {
      const watch = (callId: string) => this.watches.add((newId = callId));
      const { callId, status } = await calls.submit(this.batch, index, watch);
      this.slots.submitted(index, callId);
      // Updates only a watched call: an unwatched one may have ended meanwhile.
      if (status !== undefined && this.watches.has(callId)) this.update(index, { callId, status, attempt: 0 });
    } catch (error) {
      if (toProblem(error).code !== 'internal' || ++this.slots.at(index).internalErrors < MAX_INTERNAL_ERRORS) throw error;
      failed(this.batch.doc.id, error);
      this.slots.submitted(index, await calls.recordInternalError(this.batch, index));
    } finally {
      if (newId !== undefined && newId !== this.slots.at(index).callId) this.watches.remove(newId);
    }
  }

  private async skip(index: number): Promise<void> {
    const { calls } = this.deps;
    const { callId, state, verdict } = this.slots.at(index);
    if (this.stop === undefined) return;
    const text = skippedText(this.stop, state);
    if (callId !== undefined) {
      await calls.cancelPending(this.batch, callId, text);
      this.slots.markStale(index);
      return;
    }
    const isCulprit = this.stop.reason === 'aborted' && (verdict === 'refused' || verdict === 'malformed');
    const record = isCulprit ? calls.recordRejected(this.batch, index, text) : calls.recordSkipped(this.batch, index, text);
    this.slots.submitted(index, await record);
  }

  private async cancel(index: number): Promise<void> {
    const { callId } = this.slots.at(index);
    if (callId === undefined) return;
    await this.deps.calls.cancel(this.batch, callId, this.stop?.detail ?? 'The batch was cancelled');
    this.slots.cancelled(index);
  }

  /**
   * Runs the action for all calls, up to `atOnce` at a time, and then reads their states. Failing calls, such as those without
   * room, do not block the others. Rejects with the first failure after all were tried, or after consecutive failures.
   */
  private async each(indexes: readonly number[], action: (index: number) => Promise<void>): Promise<void> {
    const isBehind = (index: number) => index > this.lastFailed;
    const all = [...indexes.filter(isBehind), ...indexes.filter((index) => !isBehind(index))];
    const failures: unknown[] = [];
    let inRow = 0;
    for (let from = 0; from < all.length && inRow < FAILURES_IN_ROW && !this.isDone();) {
      const some = all.slice(from, from + this.atOnce);
      const results = await this.inTurns(some, action);
      await this.saveCallIds();
      const failed = results.findIndex(({ status }) => status === 'rejected');
      const result = results[failed];
      this.hasProgressed ||= results.some(({ status }) => status === 'fulfilled');
      if (result?.status === 'rejected') failures.push(result.reason);
      this.atOnce = failed === -1 ? Math.min(AT_ONCE, this.atOnce * 2) : 1;
      this.lastFailed = some[failed] ?? this.lastFailed;
      inRow = failed === -1 ? 0 : inRow + 1;
      await this.refreshSlots();
      from += some.length;
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Begins the actions in slices, with a turn of the event loop for each. */
  private async inTurns(indexes: readonly number[], action: (index: number) => Promise<void>): Promise<PromiseSettledResult<void>[]> {
    const { doc, calls } = this.batch;
    const begun: Promise<PromiseSettledResult<void>[]>[] = [];
    let left = LARGE_SIZE;
    for (const index of indexes) {
      if (left < 0) {
        await this.deps.turns.next(doc.principal.tenantId);
        left = LARGE_SIZE;
      }
      begun.push(Promise.allSettled([action(index)]));
      left = sizeLeft(calls[index]?.arguments, left - LARGE_SIZE / CALLS_A_TURN);
    }
    return (await Promise.all(begun)).flat();
  }

  /** Saves also the ids of a failed try: a batch must not end without one of its calls. */
  private async saveCallIds(): Promise<void> {
    const calls = this.slots.unsavedCallIds();
    await this.deps.store.saveCallIds(this.batch.doc.id, calls);
    this.slots.saved(calls);
  }

  /** Reads changes by other processes: stop, end, approvals. */
  private async refreshRecord(): Promise<void> {
    const { stop, endedAt, deferred }: BatchProgress = await this.deps.store.progress(this.batch.doc.id, this.slots.questions());
    this.stop = stop;
    this.deferred = deferred;
    this.hasEnded ||= endedAt !== undefined;
    this.slots.approve(deferred);
  }

  /** Reads the states of stale calls, and watches calls that have not ended. */
  private async refreshSlots(): Promise<void> {
    await Promise.all(this.slots.staleIndexes().map((index) => this.refreshSlot(index)));
  }

  private async refreshSlot(index: number): Promise<void> {
    const { callId } = this.slots.at(index);
    if (callId === undefined) return;
    this.watches.add(callId);
    this.update(index, await this.deps.calls.head(callId));
  }

  private update(index: number, snapshot: Parameters<BatchSlots['update']>[1]): void {
    const over = this.slots.update(index, snapshot, this.deferred);
    if (over !== undefined) this.watches.remove(over);
  }

  /** `end`: result of the watch; undefined if the state has to be read. */
  private callEnded(callId: string, end: WatchedEnd): void {
    const index = this.slots.openIndexOf(callId);
    if (index === undefined) return;
    if (end === undefined) this.slots.markStale(index);
    else this.slots.ended(index, end.notStarted);
    if (this.slots.mayStep()) this.schedule();
  }
}
