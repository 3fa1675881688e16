import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '#redis';
import { parseClaims, parseFetched } from './dequeued-jobs.js';
import type { IdleRegistration } from './idle-registration.js';
import type { JobPrefetcher } from './job-prefetcher.js';
import type { LockReconciler } from './lock-reconciler.js';
import type { WorkerWakeup } from './worker-wakeup.js';

/** Time after a registration was found gone at which its message counts as lost. */
const LOST_MESSAGE_MS = 500;

/** State of the subscription. `detached`: no message can come, so the worker does not register. */
type State = 'detached' | 'subscribed' | 'closed';

export interface DirectDispatchParts {
  readonly subscriber: RedisConnection;
  readonly channel: string;
  readonly registration: IdleRegistration;
  readonly prefetcher: JobPrefetcher;
  readonly reconciler: LockReconciler;
  readonly wakeup: WorkerWakeup;
  /** Called if subscribing fails or a message cannot be parsed. */
  readonly report: (error: Error) => void;
}

/**
 * Receives jobs that producers dispatch to this worker while it is idle (Temporal's sync match).
 *
 * Invariants:
 * - A registration covers the free slots, and is consumed once. A worker whose registration is gone fetches nothing until the
 * message came or its jobs were looked up, so that jobs never exceed the slots.
 * - A message that does not come is a lost answer: the jobs are under this worker's lock.
 */
export class DirectDispatch {
  private state: State = 'detached';

  constructor(private readonly parts: DirectDispatchParts) {
    const { subscriber, report } = parts;
    subscriber.on('message', (_channel: string, message: string) => {
      try {
        this.receive(message);
      } catch (error) {
        report(error instanceof Error ? error : new Error(String(error)));
      }
    });
    subscriber.on('ready', () => this.subscribe());
    subscriber.on('close', () => this.detached());
    if (subscriber.status === 'ready') this.subscribe();
  }

  /** True if the worker may register. */
  get isSubscribed(): boolean {
    return this.state === 'subscribed';
  }

  /**
   * Waits for the message of a registration that was found gone, or for a `resync` that looks its jobs up. No job is fetched
   * meanwhile.
   */
  async awaitMessage(resync: () => Promise<void>): Promise<void> {
    const { registration, prefetcher, subscriber } = this.parts;
    for (;;) {
      await Promise.race([registration.pendingMatch, sleep(LOST_MESSAGE_MS, undefined, { ref: false })]);
      if (registration.pendingMatch === undefined || prefetcher.isStopping) return;
      // Reconnects: the connection may be dead unnoticed.
      subscriber.disconnect(true);
      await resync().catch(() => {});
    }
  }

  close(): void {
    this.state = 'closed';
    this.parts.subscriber.disconnect();
  }

  private subscribe(): void {
    const { subscriber, channel, wakeup, report } = this.parts;
    subscriber.subscribe(channel).then(() => {
      if (this.state === 'closed') return;
      this.state = 'subscribed';
      // A poll that finds no job registers this worker.
      wakeup.triggerPoll();
    }, report);
  }

  private detached(): void {
    if (this.state !== 'closed') this.state = 'detached';
    this.parts.reconciler.forgetReclaimed();
  }

  private receive(message: string): void {
    const { prefetcher, reconciler, registration, wakeup } = this.parts;
    const parsed: unknown = JSON.parse(message);
    if (!Array.isArray(parsed)) throw new Error(`direct-dispatch.lua sent ${typeof parsed}, expected a list.`);
    const number = Number(parsed[0]);
    const [empty, jobs] = parseFetched(parsed[1]);
    const reclaimedIds = new Set(jobs.flatMap(([, id]) => (id !== undefined && reconciler.wasReclaimed(id, number) ? [id] : [])));
    wakeup.observedByMessage(empty ? 'empty' : 'unknown');
    // A reclaimed job whose handler has not begun gets the late answer.
    prefetcher.keepResults(parseClaims(jobs, parsed[2]).filter(([id]) => !reclaimedIds.has(id) || prefetcher.hasResult(id)));
    prefetcher.prefetch(jobs.filter(([, id]) => id === undefined || !reclaimedIds.has(id)));
    registration.consumed(number);
    wakeup.wake();
  }
}
