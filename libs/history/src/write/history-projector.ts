import { telemetry } from '#observability';
import { partitionNames, partitionOf } from '#redis';
import type { LogSource } from '../log-source.port.js';
import { HistoryUnavailable, type HistoryDatabase } from '../database/history-database.js';
import type { SkippedEvent } from '../rows/event-shape.js';
import { LogProjection } from './log-projection.js';
import type { Skipped } from './write-calls.js';

export interface ProjectorOptions {
  readonly db: HistoryDatabase;
  readonly log: LogSource;
  readonly partitions: number;
  /** Called for a call whose row the database refuses, which is then missing from lists. */
  readonly onSkipped?: Skipped;
  /** Called once for each unreadable event, after later events are in the rows. */
  readonly onSkippedEvent?: (event: SkippedEvent) => void;
  /** Most events of a partition in a step, and approximate number for all partitions. */
  readonly batch?: number;
}

const BATCH = 1_000;

/**
 * Brings the rows of all partitions up to date. A step takes as many partitions as have one batch of new events together: few
 * events cost one transaction, many one for each partition. Several projectors share the partitions: each takes those that no
 * other works on.
 */
export class HistoryProjector {
  private readonly projection: LogProjection;
  private readonly names: readonly string[];
  private readonly batch: number;
  /** End of each partition of the log after it was last read completely. */
  private readonly seen = new Map<string, number>();

  constructor(private readonly options: ProjectorOptions) {
    const { db, log, partitions, batch = BATCH, onSkipped } = options;
    this.names = partitionNames(partitions);
    this.batch = batch;
    this.projection = new LogProjection(db, log, batch, (callId, error) => {
      telemetry.projectionSkipped.emit({ partition: partitionOf(callId), callId });
      onSkipped?.(callId, error);
    });
  }

  /**
   * Runs one step in each partition whose log has grown; returns true if any has more. An abort ends it after the step under
   * way. Rejects if the database is unreachable, and, after all other partitions, if the log of a partition cannot be read.
   */
  async round(signal?: AbortSignal): Promise<boolean> {
    const faults: unknown[] = [];
    let more = false;
    const steps = this.steps(await this.grown(faults));
    for (const ends of steps) {
      if (signal?.aborted === true) return false;
      try {
        more = (await this.step(ends)) || more;
      } catch (error) {
        if (error instanceof HistoryUnavailable) throw error;
        // Nothing was written: steps of one partition each leave only the failing one behind.
        if (ends.size === 1) faults.push(error);
        else steps.push(...[...ends].map((end) => new Map([end])));
      }
    }
    if (faults.length > 0) throw faults[0];
    return more;
  }

  /** Returns true if any of the partitions has more. */
  private async step(ends: ReadonlyMap<string, number>): Promise<boolean> {
    const startedAt = performance.now();
    const advances = await this.projection.advance(ends);
    const tookMs = performance.now() - startedAt;
    let more = false;
    for (const [partition, { state, entries, lagMs, skipped }] of advances) {
      more ||= state === 'more';
      if (state === 'end_of_log') this.seen.set(partition, ends.get(partition) ?? 0);
      for (const event of skipped) this.options.onSkippedEvent?.(event);
      telemetry.eventsSkipped.emit({ partition, events: skipped.length });
      if (entries > 0) telemetry.projected.emit({ partition, events: entries, tookMs, lagMs });
    }
    return more;
  }

  /** Partitions whose log has grown, with its present end. Concurrent reads: sequential ones woke both processes 16 times. */
  private async grown(faults: unknown[]): Promise<(readonly [name: string, end: number])[]> {
    const answers = await Promise.allSettled(this.names.map(async (name) => [name, await this.options.log.end(name)] as const));
    faults.push(...answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])));
    const ends = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    return ends.filter(([name, end]) => this.seen.get(name) !== end);
  }

  /** Partitions of each step. */
  private steps(grown: readonly (readonly [name: string, end: number])[]): Map<string, number>[] {
    const steps: Map<string, number>[] = [];
    let events = Infinity;
    for (const [name, end] of grown) {
      const added = Math.abs(end - (this.seen.get(name) ?? 0));
      if (events + added > this.batch) {
        steps.push(new Map());
        events = 0;
      }
      steps.at(-1)?.set(name, end);
      events += added;
    }
    return steps;
  }
}
