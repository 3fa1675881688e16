import type { CallEvent, CallEventOf, Pool, QueueStatus, Stats, WorkerStatus } from '#contracts';
import { FrameStore } from './frame-store.js';
import { CurrentCounts } from './current-counts.js';
import { Series, type Failure, percentilesOf } from './series.js';
import { timeOfId } from './time-of-id.js';

const KEPT = 512;
const WINDOW_MS = 30_000;

/**
 * The delay between the write of an event and its arrival here, by the clocks of Redis and of this machine. If that of Redis is
 * ahead, the smallest difference seen is taken as the clock offset.
 */
class LagGauge {
  private readonly samples: { readonly ms: number; readonly at: number }[] = [];
  private next = 0;
  private ahead = 0;

  measure(ms: number, at: number): void {
    this.ahead = Math.min(this.ahead, ms);
    this.samples[this.next] = { ms, at };
    this.next = (this.next + 1) % KEPT;
  }

  /** Milliseconds; undefined if no event arrived in the last 30 s. */
  p95(now: number): number | undefined {
    const recent = this.samples.filter(({ at }) => now - at < WINDOW_MS).map(({ ms }) => ms - this.ahead);
    return percentilesOf(recent).p95;
  }
}

/**
 * The figures of the live page, updated by events on every page: numbers over time, current counts, and the lag behind the log.
 * Its size is constant.
 */
export class LiveStats extends FrameStore {
  readonly now = new CurrentCounts();
  readonly lag = new LagGauge();
  readonly queues = new Map<Pool, QueueStatus & { readonly at: number }>();
  workers: readonly WorkerStatus[] | undefined;
  private view: Series | undefined;
  /** Calls that were allowed and wait for a worker: the time of people before is no time in the queue. */
  private readonly decidedAt = new Map<string, number>();

  get series(): Series | undefined {
    return this.view;
  }

  /** Selects a window: loads the numbers of the gateway, then updates them by events. */
  show(series: Series): void {
    this.view = series;
    this.changed();
  }

  fold(events: readonly CallEvent[], receivedAt: number = Date.now()): void {
    for (const event of events) {
      const at = Date.parse(event.time);
      this.lag.measure(receivedAt - at, receivedAt);
      this.now.fold(event);
      if (this.view) foldSeries(this.view, event, at, this.decidedAt);
      this.rememberDecision(event, at);
    }
    if (events.length > 0) this.changed();
  }

  private rememberDecision({ type, subject }: CallEvent, at: number): void {
    if (type === 'call.approval_decided') this.decidedAt.set(subject, at);
    else if (type === 'call.start' || type === 'call.end') this.decidedAt.delete(subject);
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
  if (outcome === 'denied') return 'denied';
  return outcome === 'completed' && isError === true ? 'error' : undefined;
}

/** Counts waits at the time of the first Start, without the time until a person allowed the call; runs at the time of the End. */
function foldSeries(series: Series, event: CallEvent, at: number, decidedAt: ReadonlyMap<string, number>): void {
  switch (event.type) {
    case 'call.submitted':
      series.submitted(at);
      break;
    case 'call.start': {
      const queuedAt = decidedAt.get(event.subject) ?? timeOfId(event.subject);
      if (event.attempt === 1 && queuedAt !== undefined) series.started(at, Math.max(0, at - queuedAt));
      break;
    }
    case 'call.end':
      series.ended(at, failureOf(event.data), event.data.runMs);
      break;
    default:
      break;
  }
}
