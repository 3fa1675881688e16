import { findSegment, type ArchiveStore } from '#archive';
import { telemetry } from '#observability';
import type { RedisConnection } from '#redis';
import { endedCallsName } from './archive-names.js';
import type { ContentPolicy } from './content/content-keys.port.js';
import { decodeEndedCalls } from './ended-calls.js';
import { readPosition } from './seal/archive-position.js';
import { PartitionSealer, type SealedPart } from './seal/seal-partition.js';
import { countOutside, type HotWindow } from './trim/hot-window.js';
import { readKeys } from './segment-keys.js';
import { trimSegment } from './trim/trim-partition.js';

/** Ended calls of a partition whose keys are in memory until they are trimmed, about 200 bytes each. */
const MAX_KEPT_CALLS = 5_000;

export interface ArchiveStep {
  readonly nowMs: number;
  /** Time after which a segment that is not full is closed. */
  readonly segmentMs: number;
  /** True if Redis is short of memory. */
  readonly isFull: boolean;
}

/** Seals and trims one partition. */
export class PartitionArchiver {
  private readonly sealer: PartitionSealer;
  /** Sealed segments that are not trimmed, oldest first; undefined until read from the archive. */
  private hot: SealedPart[] | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly store: ArchiveStore,
    private readonly partition: string,
    private readonly window: HotWindow,
    content?: ContentPolicy,
  ) {
    this.sealer = new PartitionSealer(redis, store, partition, content);
  }

  /** True if a step may have something to do. Costs two commands, which the partitions send together. */
  async isDue({ nowMs, segmentMs, isFull }: ArchiveStep): Promise<boolean> {
    if (this.hot === undefined) return true;
    const { sealedSeq, eraseSeq } = await readPosition(this.redis, this.partition);
    if (eraseSeq > sealedSeq || countOutside(this.hot, this.window, { nowMs, isFull, eraseSeq }) > 0) return true;
    return this.sealer.isDue(sealedSeq, segmentMs, nowMs);
  }

  /** Seals the next segment if it is due, and trims segments outside of the window; returns true if there may be more to do. */
  async step({ nowMs, segmentMs, isFull }: ArchiveStep): Promise<boolean> {
    try {
      const { sealedSeq, eraseSeq } = await readPosition(this.redis, this.partition);
      const sealed = await this.seal(eraseSeq > sealedSeq ? 0 : segmentMs, nowMs);
      const trimmed = await this.trim(nowMs, isFull, eraseSeq);
      return sealed || trimmed;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  private async seal(segmentMs: number, nowMs: number): Promise<boolean> {
    this.hot ??= await this.readHot();
    const sealed = await this.sealer.step(segmentMs, nowMs);
    if (sealed === undefined) return false;
    const { manifest } = sealed;
    if (manifest.fromSeq !== (this.hot.at(-1)?.manifest.toSeq ?? manifest.fromSeq - 1) + 1) this.hot = await this.readHot();
    else this.hot.push(this.withinMemory(sealed));
    telemetry.segmentSealed.emit({
      partition: this.partition,
      events: manifest.count,
      bytes: manifest.file.bytes,
      lagMs: nowMs - manifest.firstTime,
    });
    return true;
  }

  private async trim(nowMs: number, isFull: boolean, eraseSeq: number): Promise<boolean> {
    const hot = this.hot ?? [];
    const count = countOutside(hot, this.window, { nowMs, isFull, eraseSeq });
    if (count === 0) return false;
    const { trimmedSeq } = await readPosition(this.redis, this.partition);
    if (hot[0]?.manifest.fromSeq !== trimmedSeq + 1) {
      // Another process has trimmed or sealed meanwhile.
      this.hot = undefined;
      return true;
    }
    for (const { manifest, endedCalls, keys } of hot.splice(0, count)) {
      await trimSegment(this.redis, this.store, manifest, keys ?? (await readKeys(this.store, manifest)));
      telemetry.segmentTrimmed.emit({ partition: this.partition, calls: endedCalls });
    }
    return true;
  }

  /** Drops the keys of a segment above the limit: they are read from the archive again. */
  private withinMemory(sealed: SealedPart): SealedPart {
    const calls = (this.hot ?? []).reduce((sum, part) => sum + (part.keys === undefined ? 0 : part.endedCalls), sealed.endedCalls);
    return calls <= MAX_KEPT_CALLS ? sealed : { manifest: sealed.manifest, endedCalls: sealed.endedCalls };
  }

  /** Drops the state, so that the next step reads it from Redis and the archive. */
  private forget(): void {
    this.hot = undefined;
    this.sealer.forget();
  }

  private async readHot(): Promise<SealedPart[]> {
    const { sealedSeq, trimmedSeq } = await readPosition(this.redis, this.partition);
    const found: SealedPart[] = [];
    for (let seq = trimmedSeq + 1; seq <= sealedSeq;) {
      const manifest = await findSegment(this.store, this.partition, seq);
      if (manifest === undefined || manifest.fromSeq !== seq) break;
      const calls = await this.store.get(endedCallsName(manifest));
      found.push({ manifest, endedCalls: calls === undefined ? 0 : decodeEndedCalls(calls).size });
      seq = manifest.toSeq + 1;
    }
    return found;
  }
}
