import type { ArchiveStore, Checkpointer } from '#archive';
import { FULL_SHARE, measureMemory, memoryShare, partitionName, type RedisConnection } from '#redis';
import type { ContentPolicy } from './content/content-keys.port.js';
import { PartitionArchiver, type ArchiveStep } from './partition-archiver.js';

export interface ArchiverOptions {
  /** Connection for commands; the caller closes it. */
  readonly redis: RedisConnection;
  readonly store: ArchiveStore;
  readonly partitions: number;
  /** Limits of ended calls and their events in Redis: age, and number over all partitions. */
  readonly hotWindow: { readonly maxAgeMs: number; readonly maxCalls: number };
  /** Signs the archive once a minute. Absent: no signatures. */
  readonly checkpointer?: Pick<Checkpointer, 'sign'> | undefined;
  /** Absent: no content is encrypted. */
  readonly content?: ContentPolicy | undefined;
  /** Time after which a segment that is not full is closed. Default a minute. */
  readonly segmentMs?: number;
}

const SEGMENT_MS = 60_000;
const CHECKPOINT_MS = 60_000;
const FULL_SEGMENT_MS = 5_000;

/**
 * Archives the log of all partitions, and trims archived segments. Several processes may run one: they agree on each segment
 * through Redis, so that two on one partition only repeat each other's work.
 */
export class Archiver {
  private readonly partitions: readonly PartitionArchiver[];
  private signedAt = -Infinity;

  constructor(private readonly options: ArchiverOptions) {
    const { redis, store, partitions, hotWindow, content } = options;
    const window = { maxAgeMs: hotWindow.maxAgeMs, maxCalls: Math.floor(hotWindow.maxCalls / partitions) };
    this.partitions = Array.from(
      { length: partitions },
      (_, index) => new PartitionArchiver(redis, store, partitionName(index), window, content),
    );
  }

  /**
   * Takes one step in each due partition. Returns true if any has more to do. A failed partition does not stop the others: the
   * first error is thrown at the end.
   */
  async round(signal?: AbortSignal): Promise<boolean> {
    const { redis, segmentMs = SEGMENT_MS } = this.options;
    const [memory, [seconds]] = await Promise.all([measureMemory(redis), redis.time()]);
    const isFull = memoryShare(memory) > FULL_SHARE;
    const step = { nowMs: Number(seconds) * 1_000, segmentMs: isFull ? Math.min(FULL_SEGMENT_MS, segmentMs) : segmentMs, isFull };
    let more = false;
    const failures: unknown[] = [];
    for (const partition of await this.due(step)) {
      if (signal?.aborted === true) return false;
      try {
        more = (await partition.step(step)) || more;
      } catch (error) {
        failures.push(error);
      }
    }
    await this.sign().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    return more;
  }

  /** Checks all partitions in one turn, which costs both processes less. A failed check counts as due: the step throws the reason. */
  private async due(step: ArchiveStep): Promise<PartitionArchiver[]> {
    const due = await Promise.all(this.partitions.map((partition) => partition.isDue(step).catch(() => true)));
    return this.partitions.filter((_, index) => due[index]);
  }

  /** Signs a checkpoint. A failure is retried in the next round. */
  private async sign(): Promise<void> {
    const now = performance.now();
    if (this.options.checkpointer === undefined || now - this.signedAt < CHECKPOINT_MS) return;
    await this.options.checkpointer.sign();
    this.signedAt = now;
  }
}
