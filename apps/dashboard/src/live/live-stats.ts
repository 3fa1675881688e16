import type { CallEvent, CallEventOf, Pool, QueueStatus, Stats, WorkerStatus } from '#contracts';
import { FrameStore } from '../stream/frame-store.js';
import { LagGauge } from './lag-gauge.js';
import { CurrentCounts } from './current-counts.js';
import { Series, type Failure } from './series.js';
import { timeOfId } from '../calls/call-row.js';

/**
 * What the live page shows, on every page kept up by events: numbers over time, what runs and waits now, and how far
 * behind the log this page is. Its size does not depend on how much happens.
 */
export class LiveStats extends FrameStore {
  readonly now = new CurrentCounts();
  readonly lag = new LagGauge();
  readonly queues = new Map<Pool, QueueStatus & { readonly at: number }>();
  workers: readonly WorkerStatus[] | undefined;
  private view: Series | undefined;

  get series(): Series | undefined {
    return this.view;
  }

  /** Another window begins with what the gateway counted; events move it from there. */
  show(series: Series): void {
    this.view = series;
    this.changed();
  }

  fold(events: readonly CallEvent[], receivedAt: number = Date.now()): void {
    for (const event of events) {
      const at = Date.parse(event.time);
      this.lag.measure(receivedAt - at, receivedAt);
      this.now.fold(event);
      if (this.view) foldSeries(this.view, event, at);
    }
    if (events.length > 0) this.changed();
  }

  anchor(now: Stats['now'], poolOf: (tool: string) => Pool | undefined): void {
    this.now.anchor(now, poolOf);
    this.changed();
  }

  anchorQueues(queues: readonly QueueStatus[], at: number = Date.now()): void {
    for (const queue of queues) this.queues.set(queue.pool, { ...queue, at });
    this.changed();
  }

  anchorWorkers(workers: readonly WorkerStatus[]): void {
    this.workers = workers;
    this.changed();
  }
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'timed_out', 'unknown']);

function failureOf({ outcome, isError }: CallEventOf<'call.end'>['data']): Failure | undefined {
  if (FAILED.has(outcome)) return 'failed';
  return outcome === 'completed' && isError === true ? 'error' : undefined;
}

/** As the gateway counts: waiting by the time of the first Start, running by the time of the End. */
function foldSeries(series: Series, event: CallEvent, at: number): void {
  switch (event.type) {
    case 'call.submitted':
      series.submitted(at);
      break;
    case 'call.start': {
      const submittedAt = timeOfId(event.subject);
      if (event.attempt === 1 && submittedAt !== undefined) series.started(at, Math.max(0, at - submittedAt));
      break;
    }
    case 'call.end':
      series.ended(at, failureOf(event.data), event.data.runMs);
      break;
    default:
      break;
  }
}
