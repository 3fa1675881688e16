import { telemetry } from '#observability';
import type { LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { partitionNames } from '../rows/partition-names.js';
import type { SkippedEvent } from '../rows/event-shape.js';
import { PartitionProjection } from './partition-projection.js';
import type { Skipped } from './write-calls.js';

export interface ProjectorOptions {
  readonly db: HistoryDatabase;
  readonly log: LogSource;
  readonly partitions: number;
  /** Called for a call that stays out of lists, since the database refuses its row. */
  readonly onSkipped?: Skipped;
  /** Called once for each event that cannot be read, when the events after it are in the rows. */
  readonly onSkippedEvent?: (event: SkippedEvent) => void;
  /** Events of the log in a step at most. */
  readonly batch?: number;
}

const BATCH = 1_000;

/**
 * Brings the rows of all partitions up to date, one partition after the other. Several projectors share the partitions: each
 * takes those that no other works on.
 */
export class HistoryProjector {
  private readonly partitions: ReadonlyMap<string, PartitionProjection>;
  /** Where each partition of the log ended when it had been read to its end. */
  private readonly seen = new Map<string, number>();

  constructor(private readonly options: ProjectorOptions) {
    const { db, log, partitions, batch = BATCH, onSkipped } = options;
    const partitionOf = (name: string) =>
      new PartitionProjection(db, log, name, batch, (callId, error) => {
        telemetry.projectionSkipped.emit({ partition: name, callId });
        onSkipped?.(callId, error);
      });
    this.partitions = new Map(partitionNames(partitions).map((name) => [name, partitionOf(name)]));
  }

  /**
   * One step in each partition whose log has grown; whether any has more. Ends after the step under way when it is aborted. Rejects
   * when Redis or the database is out of reach.
   */
  async round(signal?: AbortSignal): Promise<boolean> {
    let more = false;
    for (const [name, end] of await this.grown()) {
      const partition = this.partitions.get(name);
      if (partition === undefined || signal?.aborted === true) return false;
      const startedAt = performance.now();
      const step = await partition.advance(end);
      if (step.state === 'more') more = true;
      if (step.state === 'end_of_log') this.seen.set(name, end);
      for (const event of step.skipped) this.options.onSkippedEvent?.(event);
      telemetry.eventsSkipped.emit({ partition: name, events: step.skipped.length });
      if (step.entries === 0) continue;
      telemetry.projected.emit({ partition: name, events: step.entries, tookMs: performance.now() - startedAt, lagMs: step.lagMs });
    }
    return more;
  }

  /** Partitions whose log has grown, and where it ends now. All are asked at once: one after the other woke both processes 16 times. */
  private async grown(): Promise<(readonly [name: string, end: number])[]> {
    const names = [...this.partitions.keys()];
    const ends = await Promise.all(names.map(async (name) => [name, await this.options.log.end(name)] as const));
    return ends.filter(([name, end]) => this.seen.get(name) !== end);
  }
}
