import {
  droppedTo,
  findInGeneration,
  generationsOf,
  storeLeaves,
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
import { dropRules, type ArchiveDays, type SegmentFacts } from './retention-rule.js';
import { readFacts } from './segment-facts.js';

export interface RetentionPlace {
  readonly redis: RedisConnection;
  readonly store: ArchiveStore;
  readonly signer: DropSigner;
  /** Keys of encrypted content; absent: none is encrypted. */
  readonly keys?: RetainedKeys | undefined;
}

/** Most segments that one statement covers. */
const MAX_SEGMENTS = 500;

export interface RetainedPartition {
  readonly droppedSegments: number;
  /** Time of the oldest remaining event; undefined for none. */
  readonly oldestMs: number | undefined;
}

/** Segments of one generation after the dropped ones. */
interface Part {
  readonly generation: number;
  readonly after: number;
  /** First event that later generations replace. */
  readonly replacedFrom: number;
  readonly policy: () => ArchiveDays;
  readonly nowMs: number;
}

interface Chosen {
  readonly segment: Manifest;
  readonly facts: SegmentFacts;
}

/** Segments to drop, oldest first. `next`: first segment that stays; undefined at the end of the generation. */
interface Choice {
  readonly chosen: readonly Chosen[];
  readonly next: Manifest | undefined;
}

/**
 * Drops the oldest segments of a partition after the days of all tenants in them. Several processes may run at once: one of
 * them may fail then, and finds the work done in its next round.
 *
 * 1. Delete remaining segments of earlier statements. 2. Find the segments: signed, trimmed from Redis, without an open call,
 * past the days of each tenant. 3. Store their leaf hashes, then sign and publish the statement of the drop, by the present
 * rules. 4. Delete each, unless a call in it is on hold by then.
 */
export class PartitionRetention {
  private readonly archived: ArchivedLog;

  constructor(
    private readonly place: RetentionPlace,
    private readonly partition: string,
  ) {
    this.archived = new ArchivedLog(place.store);
  }

  /** Calls `policy` before each step, so that a new hold applies at once. */
  async round(policy: () => ArchiveDays, nowMs: number): Promise<RetainedPartition> {
    const { store } = this.place;
    const generations = await generationsOf(store, this.partition);
    const firsts = await Promise.all(generations.map((generation) => findInGeneration(store, this.partition, generation, 0)));
    let droppedSegments = 0;
    for (const [at, generation] of generations.entries()) {
      const replacedFrom = Math.min(...firsts.slice(at + 1).map((first) => first?.tree.firstSeq ?? Infinity));
      const after = await droppedTo(store, this.partition, generation);
      const heldSegment = await this.finish({ generation, after, replacedFrom, policy, nowMs });
      if (heldSegment !== undefined) return { droppedSegments, oldestMs: heldSegment.firstTime };
      const { count, next } = await this.drop({ generation, after, replacedFrom, policy, nowMs });
      droppedSegments += count;
      if (next !== undefined) return { droppedSegments, oldestMs: next.firstTime };
    }
    return { droppedSegments, oldestMs: undefined };
  }

  /**
   * Completes the deletion of a process that died after it had signed. A legal hold set meanwhile stops it: then returns the
   * held segment.
   */
  private async finish(part: Part): Promise<Manifest | undefined> {
    const { store } = this.place;
    const { generation, after: to } = part;
    if (to === 0) return undefined;
    for await (const name of listAll(store, endedCallsPrefix(this.partition, generation))) {
      const seq = Number(/(\d{16})\.jsonl\.gz$/.exec(name)?.[1] ?? 0);
      if (seq > to) return undefined;
      const segment = await findInGeneration(store, this.partition, generation, seq);
      if (segment?.toSeq !== seq) continue;
      if (await this.isHeld(segment, part)) return segment;
      await this.delete(segment, part);
    }
    return undefined;
  }

  private async isHeld(segment: Manifest, { policy }: Part): Promise<boolean> {
    if ((await this.place.store.get(segment.file.name)) === undefined) return false;
    return (await readFacts(this.place.store, this.archived, segment, policy(), true)).isHeld;
  }

  private async drop(part: Part): Promise<{ count: number; next: Manifest | undefined }> {
    const { store, signer } = this.place;
    let count = 0;
    for (let { after } = part; ;) {
      const { chosen, next } = await this.choose({ ...part, after });
      for (const { segment } of chosen) await storeLeaves(store, segment);
      const { rules, count: signed } = rulesOf(chosen, part.policy(), part.nowMs);
      const [first, last] = [chosen[0]?.segment, chosen[signed - 1]?.segment];
      if (first === undefined || last === undefined) return { count, next: first ?? next };
      await signer.sign(first.fromSeq, last, rules, part.nowMs);
      await signer.publish();
      for (const { segment } of chosen.slice(0, signed)) {
        if (await this.isHeld(segment, part)) return { count, next: segment };
        await this.delete(segment, part);
        count += 1;
      }
      after = last.toSeq;
    }
  }

  private async choose(part: Part): Promise<Choice> {
    const { store } = this.place;
    const mayGo = await this.whichMayGo(part);
    const chosen: Chosen[] = [];
    for (let { after } = part; ;) {
      const next = await findInGeneration(store, this.partition, part.generation, after + 1);
      if (next === undefined || chosen.length >= MAX_SEGMENTS || !mayGo(next)) return { chosen, next };
      const facts = await readFacts(this.place.store, this.archived, next, part.policy(), next.fromSeq >= part.replacedFrom);
      if (dropRules(facts, part.policy(), part.nowMs) === undefined) return { chosen, next };
      chosen.push({ segment: next, facts });
      after = next.toSeq;
    }
  }

  /** Condition for a drop: covered by the checkpoints, and trimmed from Redis. */
  private async whichMayGo({ generation, replacedFrom }: Part): Promise<(segment: Manifest) => boolean> {
    const heads = await this.place.signer.signedHeads();
    const signed = heads.find((head) => head.partition === this.partition && head.generation === generation)?.size ?? 0;
    const { trimmedSeq } = await readPosition(this.place.redis, this.partition);
    return ({ fromSeq, toSeq, tree }) => tree.size <= signed && (toSeq <= trimmedSeq || fromSeq >= replacedFrom);
  }

  private async delete(segment: Manifest, { replacedFrom }: Part): Promise<void> {
    await deleteSegment(this.place.store, this.place.keys, segment, segment.toSeq >= replacedFrom);
    telemetry.segmentDropped.emit({ partition: this.partition, events: segment.count });
  }
}

/** Rules of the first segments that may all be dropped, and their number. */
function rulesOf(chosen: readonly Chosen[], daysOf: ArchiveDays, nowMs: number): { rules: readonly DropRule[]; count: number } {
  const rules = new Map<string, DropRule>();
  let count = 0;
  for (const { facts } of chosen) {
    const found = dropRules(facts, daysOf, nowMs);
    if (found === undefined) break;
    for (const rule of found) rules.set(rule.tenantId, rule);
    count += 1;
  }
  return { rules: sorted(rules.values()), count };
}

function sorted(rules: Iterable<DropRule>): readonly DropRule[] {
  return [...rules].toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
}
