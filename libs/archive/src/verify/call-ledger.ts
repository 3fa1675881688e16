/** Ids of ended calls that are kept to find a second life of one. */
const REMEMBERED = 250_000;

/** What of an event says where its call is. */
export interface CallStep {
  readonly seq: number;
  readonly type: string;
  readonly subject: string;
  readonly callver?: number | undefined;
}

/**
 * Follows the calls of a partition: versions rise by one, and nothing comes after End. Remembers open calls and those
 * that ended lately.
 */
export class CallLedger {
  private readonly open = new Map<string, number>();
  /** With the sequence number of End. */
  private readonly ended = new Map<string, number>();
  private ends = 0;
  /** Events before what was read are unknown, so a call may come without its beginning. */
  private gaps = false;

  get openCalls(): number {
    return this.open.size;
  }

  get endedCalls(): number {
    return this.ends;
  }

  /** What is wrong with the next event; undefined when nothing is. */
  add({ seq, type, subject, callver }: CallStep): string | undefined {
    if (callver === undefined || !type.startsWith('call.')) return undefined;
    if (this.ended.has(subject)) return `is the event ${type} of call ${subject} after its End`;
    const before = this.open.get(subject);
    const expected = (before ?? 0) + 1;
    const unknown = before === undefined && this.gaps;
    if (type === 'call.end') this.end(subject, seq);
    else this.open.set(subject, callver);
    return unknown || callver === expected ? undefined : `has version ${callver} of call ${subject}, expected ${expected}`;
  }

  /** Called when events are missing. */
  forget(): void {
    this.gaps = true;
    this.open.clear();
  }

  /** Called when the events from `seq` on are replaced, as after a failover. */
  replace(seq: number): void {
    for (const [subject, end] of this.ended) {
      if (end >= seq && this.ended.delete(subject)) this.ends -= 1;
    }
    this.forget();
  }

  private end(subject: string, seq: number): void {
    this.open.delete(subject);
    this.ended.set(subject, seq);
    this.ends += 1;
    if (this.ended.size <= REMEMBERED) return;
    for (const [oldest] of this.ended) {
      this.ended.delete(oldest);
      break;
    }
  }
}
