import { numbersOf, SEGMENT } from '../postings/postings.js';
import type { Found, LaneReader } from './lane-reader.js';

/** Segments whose candidates are looked up at once, at most. */
const SEGMENTS_AT_ONCE = 8;

/** One lane on the way from its newest call to its oldest; what fits waits in a buffer until it is taken. */
export class LaneWalk {
  /** Fitting calls, newest first. */
  private buffer: Found[] = [];
  /** Ordinals of candidates of segments that were looked up, newest first. */
  private candidates: number[] = [];
  private segmentsAtOnce = 1;

  /** From `from` to below `to`; everything from `readTo` on was looked at. */
  private constructor(
    private readonly reader: LaneReader,
    private readonly from: number,
    private readTo: number,
  ) {}

  /** `below`: where the page before ended. */
  static async begin(reader: LaneReader, below: number | undefined): Promise<LaneWalk> {
    const [from, to] = await reader.bounds();
    const top = below === undefined ? to : Math.min(to, below);
    const walk = new LaneWalk(reader, from, top);
    const { projected } = reader.lane;
    walk.buffer = reader.fresh(from, top).reverse();
    walk.readTo = Math.min(top, Math.max(projected, from));
    return walk;
  }

  get newest(): Found | undefined {
    return this.buffer[0];
  }

  /** Has nothing to offer, but has not looked at everything. */
  get starved(): boolean {
    return this.buffer.length === 0 && (this.candidates.length > 0 || this.readTo > this.from);
  }

  /** Below it nothing was taken yet; 0 at the end. */
  get position(): number {
    const next = this.buffer[0]?.ordinal ?? this.candidates[0];
    if (next !== undefined) return next + 1;
    return this.readTo > this.from ? this.readTo : 0;
  }

  take(): Found | undefined {
    return this.buffer.shift();
  }

  /** Looks at some more candidates; answers how many records it read. */
  async fill(wanted: number): Promise<number> {
    if (this.candidates.length === 0) await this.findCandidates();
    const [first] = this.candidates;
    if (first === undefined) return 0;
    const segment = Math.floor(first / SEGMENT);
    let count = this.candidates.findIndex((ordinal) => Math.floor(ordinal / SEGMENT) !== segment);
    count = Math.min(wanted, count < 0 ? this.candidates.length : count);
    const chunk = this.candidates.splice(0, count);
    this.buffer.push(...(await this.reader.fitting(chunk)));
    return chunk.length;
  }

  /** The next segments that are not looked up: more at once the longer nothing is found. */
  private async findCandidates(): Promise<void> {
    const newest = Math.floor((this.readTo - 1) / SEGMENT);
    const oldest = Math.max(Math.floor(this.from / SEGMENT), newest - this.segmentsAtOnce + 1);
    const segments = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, n) => newest - n);
    const found = await Promise.all(segments.map((segment) => this.reader.candidates(segment, this.from, this.readTo)));
    found.forEach((bits, n) => {
      const start = (segments[n] ?? 0) * SEGMENT;
      for (const number of numbersOf(bits).reverse()) this.candidates.push(start + number);
    });
    this.readTo = Math.max(this.from, oldest * SEGMENT);
    this.segmentsAtOnce = Math.min(2 * this.segmentsAtOnce, SEGMENTS_AT_ONCE);
  }
}
