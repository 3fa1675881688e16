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
  /** Called for a call that stays out of lists, since the database refuses its row. */
  readonly onSkipped?: Skipped;
  /** Called once for each event that cannot be read, when the events after it are in the rows. */
  readonly onSkippedEvent?: (event: SkippedEvent) => void;
  /** Events of a partition in a step at most, and about how many of all partitions. */
  readonly batch?: number;
}

const BATCH = 1_000;

/**
 * Brings the rows of all partitions up to date, some partitions in a step: as many as have a batch of new events together, so that
 * little news costs one transaction, and much news one for each partition. Several projectors share the partitions: each takes
 * those that no other works on.
 */
export class HistoryProjector {
  private readonly projection: LogProjection;
  private readonly names: readonly string[];
  private readonly batch: number;
  /** Where each partition of the log ended when it had been read to its end. */
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
   * One step in each partition whose log has grown; whether any has more. Ends after the step under way when it is aborted. Rejects
   * when the database is out of reach, and at its end when the log of a partition cannot be read: the others have gone on.
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
        // Nothing was written. One by one, only the partition that fails stays behind.
        if (ends.size === 1) faults.push(error);
        else steps.push(...[...ends].map((end) => new Map([end])));
      }
    }
    if (faults.length > 0) throw faults[0];
    return more;
  }

  /** Whether any of the partitions has more. */
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

  /** Partitions whose log has grown, and where it ends now. All are asked at once: one after the other woke both processes 16 times. */
  private async grown(faults: unknown[]): Promise<(readonly [name: string, end: number])[]> {
    const asked = await Promise.allSettled(this.names.map(async (name) => [name, await this.options.log.end(name)] as const));
    faults.push(...asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])));
    const ends = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    return ends.filter(([name, end]) => this.seen.get(name) !== end);
  }

  /** The partitions of each step. */
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
