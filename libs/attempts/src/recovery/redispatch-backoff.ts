import type { CallJob, Priority } from '#contracts';
import { backoffMs } from '#timing';

const DELAYS = { firstMs: 2_000, maxMs: 600_000 };
/** Most entries; beyond it the oldest are dropped. Their timers dispatch them, at the latest after the longest delay. */
const CAPACITY = 100_000;

export interface DeferredDispatch {
  readonly queue: string;
  readonly job: CallJob;
  readonly priority: Priority;
  readonly tenantId: string;
  readonly times: number;
}

/**
 * Queued calls that were dispatched again: the next delay of their timers, and the calls to dispatch at once if a queue lost
 * its jobs. An optimisation, therefore only in memory.
 */
export class RedispatchBackoff {
  private readonly byCall = new Map<string, DeferredDispatch>();

  /** Counts a dispatch. Returns the delay until the next: 2 s, 4 s, 8 s … 10 min. */
  defer(queue: string, job: CallJob, priority: Priority, tenantId: string): number {
    const entry = this.byCall.get(job.callId);
    const times = entry && entry.job.attempt === job.attempt ? entry.times + 1 : 0;
    this.byCall.delete(job.callId);
    this.byCall.set(job.callId, { queue, job, priority, tenantId, times });
    if (this.byCall.size > CAPACITY) this.forget(this.byCall.keys().next().value ?? '');
    return deferDelay(times);
  }

  forget(callId: string): void {
    this.byCall.delete(callId);
  }

  byQueue(queue: string): DeferredDispatch[] {
    return [...this.byCall.values()].filter((deferred) => deferred.queue === queue);
  }

  /** Number of entries by queue. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { queue } of this.byCall.values()) counts.set(queue, (counts.get(queue) ?? 0) + 1);
    return counts;
  }
}

export function deferDelay(times: number): number {
  return backoffMs(times + 1, DELAYS);
}
