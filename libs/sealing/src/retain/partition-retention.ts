import {
  droppedTo,
  findInGeneration,
  generationsOf,
  keepLeaves,
  listAll,
  type ArchiveStore,
  type DropRule,
  type DropSigner,
  type Manifest,
} from '#archive';
import { telemetry } from '#observability';
import type { RedisConnection } from '#redis';
import { endedCallsPrefix } from '../archive-names.js';
import { ArchivedLog } from '../read/archived-log.js';
import { readPosition } from '../seal/archive-position.js';
import { deleteSegment } from './delete-segment.js';
import type { RetainedKeys } from './retained-keys.port.js';
import { dropRules, type ArchiveDays } from './retention-rule.js';
import { readFacts } from './segment-facts.js';

export interface RetentionPlace {
  readonly redis: RedisConnection;
  readonly store: ArchiveStore;
  readonly signer: DropSigner;
  /** Absent: no content is encrypted. */
  readonly keys?: RetainedKeys | undefined;
}

/** Segments that one statement covers. */
const MAX_SEGMENTS = 500;

export interface RetainedPartition {
  readonly droppedSegments: number;
  /** When the oldest event happened that is left; undefined for none. */
  readonly oldestMs: number | undefined;
}

/** The segments of one generation behind those that were dropped. */
interface Part {
  readonly generation: number;
  readonly after: number;
  /** Later generations replace the events from here on. */
  readonly replacedFrom: number;
  readonly daysOf: ArchiveDays;
  readonly nowMs: number;
}

/** Segments to drop, oldest first, and why they may go. `next` is the first that stays; undefined at the end of the generation. */
interface Choice {
  readonly segments: readonly Manifest[];
  readonly rules: readonly DropRule[];
  readonly next: Manifest | undefined;
}

/**
 * Drops the oldest segments of a partition when the days of all tenants in them are over. Several processes may do it at once:
 * one of them may fail then, and finds it done in its next round.
 *
 * 1. Delete what earlier statements cover and is still there.
 * 2. Find the segments: signed, trimmed from Redis, without an open call, past the days of each tenant.
 * 3. Keep their leaf hashes, then sign and publish that they are dropped.
 * 4. Delete them.
 */
export class PartitionRetention {
  private readonly archived: ArchivedLog;

  constructor(
    private readonly place: RetentionPlace,
    private readonly partition: string,
  ) {
    this.archived = new ArchivedLog(place.store);
  }

  async round(daysOf: ArchiveDays, nowMs: number): Promise<RetainedPartition> {
    const { store } = this.place;
    const generations = await generationsOf(store, this.partition);
    const firsts = await Promise.all(generations.map((generation) => findInGeneration(store, this.partition, generation, 0)));
    let droppedSegments = 0;
    for (const [at, generation] of generations.entries()) {
      const replacedFrom = Math.min(...firsts.slice(at + 1).map((first) => first?.tree.firstSeq ?? Infinity));
      const after = await droppedTo(store, this.partition, generation);
      const held = await this.finish(generation, after, daysOf);
      if (held !== undefined) return { droppedSegments, oldestMs: held.firstTime };
      const { count, next } = await this.drop({ generation, after, replacedFrom, daysOf, nowMs });
      droppedSegments += count;
      if (next !== undefined) return { droppedSegments, oldestMs: next.firstTime };
    }
    return { droppedSegments, oldestMs: undefined };
  }

  /** Deletes what a process left that died after it had signed. A legal hold that came in between stops it: answers the held segment. */
  private async finish(generation: number, to: number, daysOf: ArchiveDays): Promise<Manifest | undefined> {
    const { store } = this.place;
    if (to === 0) return undefined;
    for await (const name of listAll(store, endedCallsPrefix(this.partition, generation))) {
      const seq = Number(/(\d{16})\.jsonl\.gz$/.exec(name)?.[1] ?? 0);
      if (seq > to) return undefined;
      const segment = await findInGeneration(store, this.partition, generation, seq);
      if (segment?.toSeq !== seq) continue;
      if (await this.isHeld(segment, daysOf)) return segment;
      await this.delete(segment);
    }
    return undefined;
  }

  private async isHeld(segment: Manifest, daysOf: ArchiveDays): Promise<boolean> {
    if ((await this.place.store.get(segment.file.name)) === undefined) return false;
    const { lastEnds } = await readFacts(this.place.store, this.archived, segment, true);
    return [...lastEnds.keys()].some((tenantId) => daysOf(tenantId) === undefined);
  }

  private async drop(part: Part): Promise<{ count: number; next: Manifest | undefined }> {
    const { store, signer } = this.place;
    let count = 0;
    for (let { after } = part; ;) {
      const { segments, rules, next } = await this.choose({ ...part, after });
      const [first, last] = [segments[0], segments.at(-1)];
      if (first === undefined || last === undefined) return { count, next };
      for (const segment of segments) await keepLeaves(store, segment);
      await signer.sign(first.fromSeq, last, rules, part.nowMs);
      await signer.publish();
      for (const segment of segments) await this.delete(segment);
      count += segments.length;
      after = last.toSeq;
    }
  }

  private async choose(part: Part): Promise<Choice> {
    const { store } = this.place;
    const mayGo = await this.whichMayGo(part);
    const segments: Manifest[] = [];
    const rules = new Map<string, DropRule>();
    for (let { after } = part; ;) {
      const next = await findInGeneration(store, this.partition, part.generation, after + 1);
      const found = next !== undefined && segments.length < MAX_SEGMENTS && mayGo(next) ? await this.rulesOf(next, part) : undefined;
      if (next === undefined || found === undefined) return { segments, rules: sorted(rules.values()), next };
      for (const rule of found) rules.set(rule.tenantId, rule);
      segments.push(next);
      after = next.toSeq;
    }
  }

  /** Segments that the checkpoints cover, and that Redis needs no more. */
  private async whichMayGo({ generation, replacedFrom }: Part): Promise<(segment: Manifest) => boolean> {
    const heads = await this.place.signer.signedHeads();
    const signed = heads.find((head) => head.partition === this.partition && head.generation === generation)?.size ?? 0;
    const { trimmedSeq } = await readPosition(this.place.redis, this.partition);
    return ({ fromSeq, toSeq, tree }) => tree.size <= signed && (toSeq <= trimmedSeq || fromSeq >= replacedFrom);
  }

  private async rulesOf(segment: Manifest, { daysOf, nowMs, replacedFrom }: Part): Promise<readonly DropRule[] | undefined> {
    return dropRules(await readFacts(this.place.store, this.archived, segment, segment.fromSeq >= replacedFrom), daysOf, nowMs);
  }

  private async delete(segment: Manifest): Promise<void> {
    await deleteSegment(this.place.store, this.place.keys, segment);
    telemetry.segmentDropped.emit({ partition: this.partition, events: segment.count });
  }
}

function sorted(rules: Iterable<DropRule>): readonly DropRule[] {
  return [...rules].toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
}
