import { setTimeout as sleep } from 'node:timers/promises';
import { lookUpAccepted, type AttemptFollowUp } from '#attempts';
import type { CallJob, Pool } from '#contracts';
import type { CallState, CallStore } from '#event-log';
import type { CallConsumer, StartConsumer } from '#queue';
import type { ConnectedWorker } from './connected-worker.js';
import type { Placement } from './remote-calls.js';

/** Time for which a queue without credit stays open: a worker gives credit again after a call. */
const IDLE_MS = 1_000;
/** Delay of a job that no connected worker can run. */
const GIVE_BACK_MS = 1_000;

export interface WorkerQueueDeps {
  readonly startConsumer: StartConsumer;
  readonly store: Pick<CallStore, 'snapshot'>;
  readonly followUp: Pick<AttemptFollowUp, 'dispatchLater' | 'dispatchAsAccepted'>;
  /** Resolves when the attempt is over. */
  readonly runAttempt: (job: CallJob, placement: Placement) => Promise<void>;
}

/** Consumer of the queue, with its slots and the number of its running calls. */
interface Intake {
  readonly consumer: CallConsumer;
  slots: number;
  running: number;
}

/**
 * The calls of one pool that wait for the workers of one source. It takes as many jobs as the connected workers have
 * credit for; a job that it took without credit is not claimed, and goes back when no credit comes.
 */
export class WorkerQueue {
  private intake: Intake | undefined;
  /** Consumers that take no more calls and finish their last ones. */
  private readonly retired = new Set<Intake>();
  private idle: NodeJS.Timeout | undefined;
  private closing: Promise<void> = Promise.resolve();
  private waiters: (() => void)[] = [];

  constructor(
    private readonly name: string,
    private readonly pool: Pool,
    private readonly workers: ReadonlySet<ConnectedWorker>,
    private readonly deps: WorkerQueueDeps,
  ) {}

  /** Adjusts the slots. Called after each change of credit, calls or workers. */
  update(): void {
    const slots = [...this.workers].reduce((sum, worker) => sum + worker.slotsOf(this.pool), 0);
    if (slots > 0) {
      clearTimeout(this.idle);
      this.idle = undefined;
      this.offer(slots);
    } else if (this.intake !== undefined) this.idle ??= setTimeout(() => void this.close(), IDLE_MS).unref();
    this.wakeWaiters();
  }

  /** Replaces a consumer without a free slot: it would notice more slots only after the end of a call. */
  private offer(slots: number): void {
    const isFull = this.intake !== undefined && this.intake.running >= this.intake.slots;
    if (this.intake !== undefined && isFull && this.freeOf(slots) > this.intake.slots) this.retire(this.intake);
    const free = this.freeOf(slots);
    if (free <= 0) return;
    if (this.intake === undefined) this.intake = this.open(free);
    else this.intake.consumer.setConcurrency(free);
    this.intake.slots = free;
  }

  private freeOf(slots: number): number {
    return slots - [...this.retired].reduce((sum, { running }) => sum + running, 0);
  }

  private open(slots: number): Intake {
    const consumer = this.deps.startConsumer(this.name, slots, async (job) => {
      intake.running += 1;
      await this.handle(job).finally(() => {
        intake.running -= 1;
        if (this.retired.has(intake)) this.update();
      });
    });
    const intake: Intake = { consumer, slots, running: 0 };
    return intake;
  }

  private retire(intake: Intake): void {
    this.intake = undefined;
    this.retired.add(intake);
    const over = intake.consumer.close().finally(() => this.retired.delete(intake));
    this.closing = Promise.all([this.closing, over]).then(() => {});
  }

  /** Takes no more jobs; resolves when the attempts are over. May be opened again by `update`. */
  close(): Promise<void> {
    clearTimeout(this.idle);
    this.idle = undefined;
    const { intake } = this;
    this.intake = undefined;
    this.wakeWaiters();
    return (this.closing = Promise.all([this.closing, intake?.consumer.close()]).then(() => {}));
  }

  private async handle(job: CallJob): Promise<void> {
    const look = () => this.deps.store.snapshot(job.callId);
    const head = await lookUpAccepted(look, (found) => found !== undefined, sleep);
    if (head?.status !== 'queued' || head.attempt + 1 !== job.attempt) return;
    const placement = await this.placement(head);
    if (placement === undefined) return this.deps.followUp.dispatchLater(this.name, job, GIVE_BACK_MS);
    try {
      await this.deps.runAttempt(job, placement);
    } finally {
      placement.release();
    }
  }

  /** A worker with the tool and credit. Waits for credit as long as the queue is open. */
  private async placement({ meta, openBytes }: CallState): Promise<Placement | undefined> {
    for (;;) {
      const able = [...this.workers].filter((worker) => !worker.isGone && worker.has(meta.tool));
      const worker = able.reduce<ConnectedWorker | undefined>(
        (best, it) => (it.freeOf(this.pool) > (best?.freeOf(this.pool) ?? 0) ? it : best),
        undefined,
      );
      if (worker !== undefined) return this.reserve(worker, openBytes);
      if (able.length === 0 || this.intake === undefined) return undefined;
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  private reserve(worker: ConnectedWorker, callBytes: number): Placement {
    const end = worker.reserve(this.pool, callBytes);
    const release = () => {
      end();
      this.wakeWaiters();
    };
    return { worker, pool: this.pool, release };
  }

  private wakeWaiters(): void {
    for (const wake of this.waiters.splice(0)) wake();
  }
}
