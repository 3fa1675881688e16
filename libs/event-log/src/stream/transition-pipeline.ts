import { setTimeout as delay } from 'node:timers/promises';
import { writeTogether, isClosed, type RedisConnection, type ReplicaWait } from '#redis';
import { telemetry } from '#observability';
import { EventLogFull, EventLogUnavailable, EventLogUnreplicated } from '../event-log-errors.js';
import { runTransitions, type RunAnswer } from './transition-script.js';
import { RUN_LIMITS, type ScriptVariant, type Transition } from './transition.js';

export interface PipelineOptions {
  /** After it a transition fails with `EventLogUnavailable`; without it the pipeline retries for ever. */
  readonly deadlineMs?: number;
  /** Set when durable transitions wait for replicas. */
  readonly wait?: ReplicaWait;
}

/** What transition.lua said to one transition, and the Redis time in ms when it did. */
export interface TransitionAnswer {
  readonly now: number;
  readonly answer: unknown;
}

interface Pending {
  readonly transition: Transition;
  readonly bytes: number;
  readonly expiresAt: number;
  settled: boolean;
  /** Called once, by the first run that was written. */
  sent?: () => void;
  /** What the script said before enough replicas had it: still the answer when they have, unless another master had to apply it again. */
  unreplicated?: TransitionAnswer;
  settle(outcome: TransitionAnswer | Error): void;
}

/** One run in flight at a time; what comes meanwhile is the next run. After a connection error the same run is sent again. */
export class TransitionPipeline {
  private waiting: Pending[] = [];
  private inFlight: readonly Pending[] = [];
  private draining: Promise<void> | undefined;
  private expiry: NodeJS.Timeout | undefined;
  private readonly stopped = new AbortController();

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

  /** Waits for what is under way, at most `deadlineMs`, then gives it up. */
  async close(deadlineMs: number): Promise<void> {
    if (this.draining !== undefined) {
      const timer = setTimeout(() => this.abandon('The event log was closed before Redis answered.'), deadlineMs);
      await Promise.race([
        this.draining,
        new Promise<void>((resolve) => this.stopped.signal.addEventListener('abort', () => resolve(), { once: true })),
      ]);
      clearTimeout(timer);
    }
    this.abandon('The event log is closed.');
  }

  /** Never rejects: every failure is the answer of the transitions it hit. */
  private async drain(): Promise<void> {
    while (true) {
      // After the I/O of this turn of the event loop, so that what it brought goes together.
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

  /** Sends the batch until each of its transitions has an answer or was given up. */
  private async send(batch: readonly Pending[]): Promise<void> {
    let open = batch;
    for (let failures = 0; open.length > 0; failures++) {
      if (failures > 0) await this.pause(failures);
      open = open.filter(({ settled }) => !settled);
      if (open.length > 0) open = await this.tryOnce(open);
    }
  }

  /** One run; returns those to be sent again. */
  private async tryOnce(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const wait = batch.some(({ transition }) => transition.durable) ? this.options.wait : undefined;
    const startedAt = performance.now();
    try {
      const transitions = batch.map(({ transition }) => transition);
      const run = await writeTogether(this.redis, () => {
        const running = runTransitions(this.redis, this.variant, transitions, wait);
        notifySent(batch);
        return running;
      });
      telemetry.scriptRun.emit({ transitions: batch.length, ms: performance.now() - startedAt });
      return settleAll(batch, run);
    } catch (error) {
      if (isTransient(error) && !isClosed(this.redis) && !this.stopped.signal.aborted) return batch;
      for (const pending of batch) pending.settle(failureOf(error));
      return [];
    }
  }

  private async pause(failures: number): Promise<void> {
    await delay(Math.min(20 * 2 ** failures, 500), undefined, { signal: this.stopped.signal }).catch(() => {});
  }

  /** One timer a pipeline, and only while something waits with a deadline. */
  private watchDeadlines(): void {
    if (this.options.deadlineMs === undefined || this.expiry !== undefined) return;
    const open = [...this.inFlight, ...this.waiting].filter(({ settled }) => !settled);
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
    if (unreplicated === undefined) return new EventLogUnavailable(`Redis did not answer ${within}`);
    return new EventLogUnreplicated(`Too few replicas confirmed the write ${within}`);
  }

  private abandon(why: string): void {
    this.stopped.abort();
    clearTimeout(this.expiry);
    for (const pending of [...this.inFlight, ...this.waiting]) pending.settle(new EventLogUnavailable(why));
    this.waiting = [];
  }
}

function notifySent(batch: readonly Pending[]): void {
  for (const pending of batch) {
    pending.sent?.();
    delete pending.sent;
  }
}

/**
 * A durable transition that too few replicas have is sent again: it changes nothing then, and the wait starts again. On a
 * replica that was promoted without it, it is done again, and what the lost master said holds no more.
 */
function settleAll(batch: readonly Pending[], { now, answers, replicated }: RunAnswer): readonly Pending[] {
  const again: Pending[] = [];
  for (const [index, pending] of batch.entries()) {
    const fresh = { now, answer: answers[index] };
    const answer = isReplay(fresh.answer) ? (pending.unreplicated ?? fresh) : fresh;
    if (replicated || !pending.transition.durable) {
      pending.settle(answer);
    } else {
      pending.unreplicated = answer;
      again.push(pending);
    }
  }
  return again;
}

/** The reconciler's End has nothing to be known by: repeated, it finds the call ended. */
function isReplay(answer: unknown): boolean {
  return typeof answer === 'string' && (answer.startsWith('REPLAY') || answer === 'ENDED');
}

/** Errors after which the same run may succeed: no answer at all, or a server that starts, fails over or syncs. */
const TRANSIENT = /^(LOADING|READONLY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|MISCONF|BUSY|MOVED|ASK|UNBLOCKED)\b/;

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  return error.name !== 'ReplyError' || TRANSIENT.test(error.message);
}

function failureOf(error: unknown): Error {
  const failure = error instanceof Error ? error : new Error(String(error));
  if (failure instanceof TypeError || failure instanceof RangeError) return failure;
  if (failure.name !== 'ReplyError') return new EventLogUnavailable(failure.message, { cause: failure });
  return failure.message.startsWith('OOM') ? new EventLogFull() : failure;
}
