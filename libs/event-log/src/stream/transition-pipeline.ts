import { setTimeout as delay } from 'node:timers/promises';
import { isClosed, keys, partitionOf, writeTogether, type RedisConnection, type ReplicaBarrier } from '#redis';
import { telemetry } from '#observability';
import { backoffMs } from '#timing';
import { EventLogFull, EventLogUnavailable, EventLogUnreplicated } from '../event-log-errors.js';
import { runTransitions, type RunAnswer } from './transition-script.js';
import { RUN_LIMITS, type ScriptVariant, type Transition } from './transition.js';

export interface PipelineOptions {
  /** Time after which a transition fails with `EventLogUnavailable`. Default: retried for ever. */
  readonly deadlineMs?: number;
  /** Set if durable transitions wait for replicas. Has its own connection, so that later transitions do not wait. */
  readonly replicas?: ReplicaBarrier;
  /**
   * Called with Redis's error text when Redis begins to refuse writes because it cannot save them, and with undefined when it
   * accepts them again.
   */
  readonly onDiskFault?: (refusal: string | undefined) => void;
}

/** Answer of transition.lua to one transition, and its Redis time in ms. */
export interface TransitionAnswer {
  readonly now: number;
  readonly answer: unknown;
}

interface Pending {
  readonly transition: Transition;
  readonly bytes: number;
  readonly expiresAt: number;
  settled: boolean;
  /** Called once, after the first run was written. */
  sent?: () => void;
  /** Answer of the script before enough replicas confirmed it; final once they have, unless another master applied the transition again. */
  unreplicated?: TransitionAnswer;
  settle(outcome: TransitionAnswer | Error): void;
}

/**
 * Sends one run at a time; transitions that come meanwhile form the next run. After a connection error the same run is sent
 * again. Durable transitions leave the pipeline with the answer of the script and are settled when replicas have them.
 */
export class TransitionPipeline {
  private waiting: Pending[] = [];
  private inFlight: readonly Pending[] = [];
  /** Transitions that the script has answered and replicas have not confirmed. */
  private readonly unconfirmed = new Set<Pending>();
  private readonly confirmations = new Set<Promise<void>>();
  private draining: Promise<void> | undefined;
  private expiry: NodeJS.Timeout | undefined;
  private readonly stopped = new AbortController();
  /** Error of the last run, until one succeeds. */
  private fault: unknown;

  constructor(
    private readonly redis: RedisConnection,
    private readonly variant: ScriptVariant,
    private readonly options: PipelineOptions,
  ) {}

  submit(transition: Transition, bytes: number, sent?: () => void): Promise<TransitionAnswer> {
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        transition,
        bytes,
        expiresAt: performance.now() + (this.options.deadlineMs ?? Infinity),
        settled: false,
        ...(sent === undefined ? {} : { sent }),
        settle: (outcome) => {
          if (pending.settled) return;
          pending.settled = true;
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
      };
      this.waiting.push(pending);
      this.draining ??= this.drain();
      this.watchDeadlines();
    });
  }

  /** Waits for transitions under way, at most `deadlineMs`, then fails them. */
  async close(deadlineMs: number): Promise<void> {
    if (this.isBusy) {
      const timer = setTimeout(() => this.abandon('The event log was closed before Redis answered.'), deadlineMs);
      await Promise.race([
        this.idle(),
        new Promise<void>((resolve) => this.stopped.signal.addEventListener('abort', () => resolve(), { once: true })),
      ]);
      clearTimeout(timer);
    }
    this.abandon('The event log is closed.');
  }

  private get isBusy(): boolean {
    return this.draining !== undefined || this.confirmations.size > 0;
  }

  private async idle(): Promise<void> {
    while (this.isBusy) await Promise.all([this.draining, ...this.confirmations]);
  }

  /** Never rejects: every failure is the answer of the affected transitions. */
  private async drain(): Promise<void> {
    while (true) {
      // Waits for the I/O of this turn of the event loop, to batch its transitions.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.takeBatch();
      if (batch.length === 0) break;
      this.inFlight = batch;
      await this.send(batch);
      this.inFlight = [];
    }
    this.draining = undefined;
  }

  private takeBatch(): Pending[] {
    this.waiting = this.waiting.filter(({ settled }) => !settled);
    let bytes = 0;
    let size = 0;
    for (const pending of this.waiting) {
      bytes += pending.bytes;
      if (size === RUN_LIMITS.transitions || (size > 0 && bytes > RUN_LIMITS.bytes)) break;
      size++;
    }
    return this.waiting.splice(0, size);
  }

  /** Sends the batch until each of its transitions has an answer or has expired. */
  private async send(batch: readonly Pending[]): Promise<void> {
    let open = batch;
    for (let failures = 0; open.length > 0; failures++) {
      if (failures > 0) await this.pause(failures);
      open = open.filter(({ settled }) => !settled);
      if (open.length > 0) open = await this.tryOnce(open);
    }
  }

  /** Sends one run; returns the transitions to send again. */
  private async tryOnce(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const isToConfirm = this.options.replicas !== undefined && batch.some(({ transition }) => transition.durable);
    const startedAt = performance.now();
    try {
      const transitions = batch.map(({ transition }) => transition);
      const run = await writeTogether(this.redis, () => {
        const running = runTransitions(this.redis, this.variant, transitions, isToConfirm);
        notifySent(batch);
        return running;
      });
      telemetry.scriptRun.emit({ transitions: batch.length, ms: performance.now() - startedAt });
      this.setFault(undefined);
      this.answer(batch, run);
    } catch (error) {
      this.setFault(error);
      if (this.isToRepeat(this.redis, error)) return batch;
      for (const pending of batch) pending.settle(failureOf(error));
    }
    return [];
  }

  private setFault(error: unknown): void {
    const [before, now] = [diskFaultIn(this.fault), diskFaultIn(error)];
    this.fault = error;
    if ((before === undefined) !== (now === undefined)) this.options.onDiskFault?.(now);
  }

  private isToRepeat(redis: RedisConnection, error: unknown): boolean {
    return isTransient(error) && !isClosed(redis) && !this.stopped.signal.aborted;
  }

  private answer(batch: readonly Pending[], { now, answers, history }: RunAnswer): void {
    const durable: Pending[] = [];
    for (const [index, pending] of batch.entries()) {
      const fresh = { now, answer: answers[index] };
      const answer = isReplay(fresh.answer) ? (pending.unreplicated ?? fresh) : fresh;
      if (history === undefined || !pending.transition.durable) {
        pending.settle(answer);
      } else {
        pending.unreplicated = answer;
        durable.push(pending);
      }
    }
    const { replicas } = this.options;
    if (replicas === undefined || history === undefined) return;
    for (const pending of durable) this.unconfirmed.add(pending);
    const confirmation = this.confirm(durable, history, replicas).finally(() => {
      for (const pending of durable) this.unconfirmed.delete(pending);
      this.confirmations.delete(confirmation);
    });
    this.confirmations.add(confirmation);
  }

  /**
   * Settles transitions of one run when enough replicas of the master with this history have them. After a failover they are
   * sent again: the new master finds them applied, or applies them, and the answer of the old one is discarded. Without
   * permission for INFO all histories are empty and count as one. Never rejects.
   */
  private async confirm(batch: readonly Pending[], history: string, replicas: ReplicaBarrier): Promise<void> {
    for (let failures = 0; ;) {
      const open = batch.filter(({ settled }) => !settled);
      const [first] = open;
      if (first === undefined) return;
      try {
        const state = await replicas.ask(keys.log(partitionOf(first.transition.callId)));
        if (state.history !== history) return this.sendAgain(open);
        if (state.isEnough) for (const pending of open) pending.settle(pending.unreplicated ?? failureOf('There is no answer.'));
      } catch (error) {
        if (this.isToRepeat(replicas.redis, error)) await this.pause(++failures);
        else for (const pending of open) pending.settle(failureOf(error));
      }
    }
  }

  private sendAgain(batch: readonly Pending[]): void {
    this.waiting.push(...batch);
    this.draining ??= this.drain();
  }

  private async pause(failures: number): Promise<void> {
    await delay(backoffMs(failures, { firstMs: 40, maxMs: 500 }), undefined, { signal: this.stopped.signal }).catch(() => {});
  }

  /** Runs one timer a pipeline, only while a transition waits with a deadline. */
  private watchDeadlines(): void {
    if (this.options.deadlineMs === undefined || this.expiry !== undefined) return;
    const open = [...this.inFlight, ...this.waiting, ...this.unconfirmed].filter(({ settled }) => !settled);
    if (open.length === 0) return;
    const first = open.reduce((least, { expiresAt }) => Math.min(least, expiresAt), Infinity);
    this.expiry = setTimeout(
      () => {
        this.expiry = undefined;
        const now = performance.now();
        for (const pending of open) if (pending.expiresAt <= now) pending.settle(this.timeoutError(pending));
        this.watchDeadlines();
      },
      Math.max(first - performance.now(), 0) + 1,
    );
  }

  private timeoutError({ unreplicated }: Pending): EventLogUnavailable {
    const within = `within ${this.options.deadlineMs} ms.`;
    if (unreplicated === undefined) return new EventLogUnavailable(`Redis did not accept the write ${within}`, { cause: this.fault });
    return new EventLogUnreplicated(`Too few replicas confirmed the write ${within}`);
  }

  private abandon(why: string): void {
    this.stopped.abort();
    clearTimeout(this.expiry);
    for (const pending of [...this.inFlight, ...this.waiting, ...this.unconfirmed]) pending.settle(new EventLogUnavailable(why));
    this.waiting = [];
  }
}

function notifySent(batch: readonly Pending[]): void {
  for (const pending of batch) {
    pending.sent?.();
    delete pending.sent;
  }
}

/** True for a repeated transition. The reconciler's End has no id: a repeat finds the call ended. */
function isReplay(answer: unknown): boolean {
  return typeof answer === 'string' && (answer.startsWith('REPLAY') || answer === 'ENDED');
}

/** Errors after which the same run may succeed: no answer at all, or a server that starts, fails over or syncs. */
const TRANSIENT = /^(LOADING|READONLY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|MISCONF|BUSY|MOVED|ASK|UNBLOCKED)\b/;

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  return error.name !== 'ReplyError' || TRANSIENT.test(error.message);
}

/** Error text of Redis when it refuses writes because saving its data failed; else undefined. */
function diskFaultIn(error: unknown): string | undefined {
  return error instanceof Error && error.message.startsWith('MISCONF ') ? error.message : undefined;
}

function failureOf(error: unknown): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  if (failure instanceof TypeError || failure instanceof RangeError) return failure;
  if (failure.name !== 'ReplyError') return new EventLogUnavailable(failure.message, { cause: failure });
  return failure.message.startsWith('OOM') ? new EventLogFull() : failure;
}
