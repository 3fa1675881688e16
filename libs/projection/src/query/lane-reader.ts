import type { CallFilter } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { addTo, bitsBetween, bitsOf, exclude, intersect, SEGMENT, setBit, type Bits } from '../postings/postings.js';
import { callsWithAll, slicesOfWords } from '../postings/signatures.js';
import { excludedTermsOf, termGroupsOf } from '../postings/terms.js';
import { decodeRecord } from '../record/packed-record.js';
import { fits, hasWords, toolCallWords, type CallRecord } from '#history';
import { readSlices } from './read-slices.js';
import type { Lane } from './lane.js';

/** A filter made ready: groups of terms of which one each must be there, terms that must not, and words that must be found. */
export interface Wanted {
  readonly filter: CallFilter;
  readonly groups: readonly (readonly string[])[];
  readonly excluded: readonly string[];
  readonly words: readonly string[];
  /** The slices of the words, and of those of a toolCallId: one list for each that may fit. None: all calls may. */
  readonly signatures: readonly (readonly number[])[];
  /** Whether terms alone tell if a call fits. */
  readonly exact: boolean;
}

export function wantedOf(filter: CallFilter, words: readonly string[]): Wanted {
  const { toolCallId } = filter;
  const ids = toolCallId === undefined ? [[]] : toolCallId.map(toolCallWords);
  const signatures = ids.map((id) => slicesOfWords([...words, ...id]));
  return {
    filter,
    groups: termGroupsOf(filter),
    excluded: excludedTermsOf(filter),
    words,
    signatures: signatures.every((slices) => slices.length > 0) ? signatures : [],
    exact: words.length === 0 && toolCallId === undefined,
  };
}

/** A call on its way into a page. */
export interface Found {
  readonly ordinal: number;
  readonly record: CallRecord;
}

/** Answers of one lane about one filter. */
export class LaneReader {
  constructor(
    private readonly redis: RedisConnection,
    readonly lane: Lane,
    private readonly wanted: Wanted,
  ) {}

  get total(): number {
    return this.lane.projected + this.lane.fresh.length;
  }

  /** The ordinals within a segment that may fit: surely, unless there are words. Those of `moved` are known to fit. */
  async candidates(segment: number, from: number, to: number): Promise<Bits> {
    const { projected, moved } = this.lane;
    const start = segment * SEGMENT;
    const bits = bitsBetween(from - start, Math.min(to, projected) - start);
    const { groups, signatures } = this.wanted;
    const [terms, words] = await Promise.all([
      groups.length === 0 ? undefined : this.terms(segment),
      signatures.length === 0 ? undefined : this.signed(segment, signatures),
    ]);
    if (terms !== undefined) intersect(bits, terms);
    if (words !== undefined) intersect(bits, words);
    for (const [ordinal, record] of moved) {
      if (ordinal >= start && ordinal < start + SEGMENT && ordinal >= from && ordinal < to)
        setBit(bits, ordinal - start, this.fits(record));
    }
    return bits;
  }

  /** Calls that are not projected yet and fit, rising. */
  fresh(from: number, to: number): Found[] {
    const { projected, fresh } = this.lane;
    return fresh.flatMap((record, index) => {
      const ordinal = projected + index;
      return ordinal >= from && ordinal < to && this.fits(record) ? [{ ordinal, record }] : [];
    });
  }

  /** The records of these ordinals of one segment that fit, in the same order. */
  async fitting(ordinals: readonly number[]): Promise<Found[]> {
    const records = await this.records(ordinals);
    return records.filter(({ record }) => this.fits(record));
  }

  /** The first ordinal whose call was submitted at `time` or later. Times rise along a partition. */
  async ordinalAt(time: number): Promise<number> {
    let low = 0;
    let high = this.total;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const record = await this.at(middle);
      if (record !== undefined && record.submittedAt < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** From which to below which ordinal the times of the filter reach. */
  async bounds(): Promise<readonly [from: number, to: number]> {
    const { since, until } = this.wanted.filter;
    return Promise.all([
      since === undefined ? 0 : this.ordinalAt(Date.parse(since)),
      until === undefined ? this.total : this.ordinalAt(Date.parse(until) + 1),
    ]);
  }

  private fits(record: CallRecord): boolean {
    const { filter, words } = this.wanted;
    return fits(record, filter) && (words.length === 0 || hasWords(record, words));
  }

  private async at(ordinal: number): Promise<CallRecord | undefined> {
    const { projected, fresh } = this.lane;
    return ordinal >= projected ? fresh[ordinal - projected] : (await this.records([ordinal]))[0]?.record;
  }

  private async records(ordinals: readonly number[]): Promise<Found[]> {
    const [first] = ordinals;
    if (first === undefined) return [];
    const { partition, moved } = this.lane;
    const segment = Math.floor(first / SEGMENT);
    const texts = await this.redis.hmget(
      keys.viewRecords(partition, this.lane.tenantId, segment),
      ...ordinals.map((ordinal) => String(ordinal % SEGMENT)),
    );
    return ordinals.flatMap((ordinal, index) => {
      const text = texts[index];
      const record = moved.get(ordinal) ?? (typeof text === 'string' ? decodeRecord(text) : undefined);
      return record === undefined ? [] : [{ ordinal, record }];
    });
  }

  /** Calls that have one term of every group and none of the excluded ones. */
  private async terms(segment: number): Promise<Bits> {
    const { groups, excluded } = this.wanted;
    const key = keys.viewPostings(this.lane.partition, this.lane.tenantId, segment);
    const stored = await this.redis.hmgetBuffer(key, ...groups.flat(), ...excluded);
    let at = 0;
    const sets = groups.map((group) => {
      const any = bitsOf(undefined);
      for (const _term of group) addTo(any, stored[at++]);
      return any;
    });
    const [first = bitsOf(undefined), ...others] = sets;
    for (const other of others) intersect(first, other);
    for (const _term of excluded) exclude(first, bitsOf(stored[at++]));
    return first;
  }

  /** Calls whose signature has all slices of one of the lists, and all calls of blocks that have no signatures yet. */
  private async signed(segment: number, signatures: Wanted['signatures']): Promise<Bits> {
    const key = keys.viewSignatures(this.lane.partition, this.lane.tenantId, segment);
    const sets = await Promise.all(
      signatures.map(async (slices) => {
        const bits = bitsBetween(0, SEGMENT);
        (await readSlices(this.redis, key, slices)).forEach((part, block) => {
          if (part.length > 0) callsWithAll(part, bits, block);
        });
        return bits;
      }),
    );
    const [any = bitsBetween(0, SEGMENT), ...others] = sets;
    for (const other of others) other.forEach((byte, at) => (any[at] = (any[at] ?? 0) | byte));
    return any;
  }
}
