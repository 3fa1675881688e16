import type { ArchiveStore, Checkpointer } from '#archive';
import { FULL_SHARE, measureMemory, memoryShare, partitionName, type RedisConnection } from '#redis';
import type { ContentPolicy } from './content/content-keys.port.js';
import { PartitionArchiver, type ArchiveStep } from './partition-archiver.js';

export interface ArchiverOptions {
  /** Connection for commands; the caller closes it. */
  readonly redis: RedisConnection;
  readonly store: ArchiveStore;
  readonly partitions: number;
  /** Ended calls and their events stay in Redis at most so long, and at most so many of all partitions. */
  readonly hotWindow: { readonly maxAgeMs: number; readonly maxCalls: number };
  /** Signs what is archived, once a minute. Absent: nothing is signed. */
  readonly checkpointer?: Pick<Checkpointer, 'sign'> | undefined;
  /** Absent: no content is encrypted. */
  readonly content?: ContentPolicy | undefined;
  /** A segment that is not full is closed after this time. Default a minute. */
  readonly segmentMs?: number;
}

const SEGMENT_MS = 60_000;
const CHECKPOINT_MS = 60_000;
const FULL_SEGMENT_MS = 5_000;

/**
 * Archives the log of all partitions, and trims what is archived. Several processes may run one: they agree on each segment by
 * Redis, so that two on the same partition do the same work twice and nothing else.
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
   * Takes one step in each partition that needs one. Returns whether any has more to do. A partition that fails does not stop
   * the others: the first error is thrown at the end.
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

  /** Asks Redis about all partitions in one turn, which costs both processes less. One that fails counts as due: its step throws the reason. */
  private async due(step: ArchiveStep): Promise<PartitionArchiver[]> {
    const due = await Promise.all(this.partitions.map((partition) => partition.isDue(step).catch(() => true)));
    return this.partitions.filter((_, index) => due[index]);
  }

  /** A failed one is repeated with the next round. */
  private async sign(): Promise<void> {
    const now = performance.now();
    if (this.options.checkpointer === undefined || now - this.signedAt < CHECKPOINT_MS) return;
    await this.options.checkpointer.sign();
    this.signedAt = now;
  }
}
