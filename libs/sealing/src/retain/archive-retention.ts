import { partitionName } from '#redis';
import { PartitionRetention, type RetainedPartition, type RetentionPlace } from './partition-retention.js';
import type { ArchiveDays } from './retention-rule.js';
import { KeyShredder } from './shred-keys.js';

export interface ArchiveRetentionOptions extends RetentionPlace {
  readonly partitions: number;
  /** Called before each step of a round; undefined: no deletion. An error rejects the round before any deletion. */
  readonly policy: () => ArchiveDays | undefined;
  /** Deletes the rows of these calls, so that no list has a deleted call. While it fails, no segment is dropped. */
  readonly deleteRows?: (() => Promise<unknown>) | undefined;
  readonly now?: () => number;
}

/** Deletes expired calls from the archive: keys first, then whole segments. */
export class ArchiveRetention {
  private readonly partitions: readonly { readonly name: string; readonly retention: PartitionRetention }[];
  private readonly shredder: KeyShredder | undefined;

  constructor(private readonly options: ArchiveRetentionOptions) {
    const { redis, store, keys, partitions } = options;
    this.shredder = keys && new KeyShredder(redis, store, keys);
    this.partitions = Array.from({ length: partitions }, (_, index) => {
      const name = partitionName(index);
      return { name, retention: new PartitionRetention(options, name) };
    });
  }

  /** A failed partition does not stop the others: the first error is thrown at the end. */
  async round(signal?: AbortSignal): Promise<RetainedPartition> {
    const { policy, now = Date.now } = this.options;
    if (policy() === undefined) return { droppedSegments: 0, oldestMs: undefined };
    const current = (): ArchiveDays => policy() ?? (() => undefined);
    const nowMs = now();
    await this.options.deleteRows?.();
    const failures: unknown[] = [];
    let [dropped, oldest] = [0, Infinity];
    for (const { name, retention } of this.partitions) {
      if (signal?.aborted === true) break;
      try {
        await this.shredder?.round(name, current, nowMs);
        const { droppedSegments, oldestMs = Infinity } = await retention.round(current, nowMs);
        dropped += droppedSegments;
        oldest = Math.min(oldest, oldestMs);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return { droppedSegments: dropped, oldestMs: Number.isFinite(oldest) ? oldest : undefined };
  }
}
