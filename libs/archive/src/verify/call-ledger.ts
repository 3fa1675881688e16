/** Most ids of ended calls in memory, by which events after an End are found. */
const REMEMBERED = 250_000;

/** Fields of an event that place it in its call. */
export interface CallStep {
  readonly seq: number;
  readonly type: string;
  readonly subject: string;
  readonly callver?: number | undefined;
}

/** Checks the calls of a partition: versions rise by one, and no event follows End. Remembers open and recently ended calls. */
export class CallLedger {
  private readonly open = new Map<string, number>();
  /** Ended calls with the sequence number of End. */
  private readonly ended = new Map<string, number>();
  private ends = 0;
  /** True if earlier events are unknown, so that a call may lack its beginning. */
  private gaps = false;

  get openCalls(): number {
    return this.open.size;
  }

  get endedCalls(): number {
    return this.ends;
  }

  /** Adds an event. Returns its fault; undefined for none. */
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

  /** Called for missing events. */
  forget(): void {
    this.gaps = true;
    this.open.clear();
  }

  /** Called if the events from `seq` on are replaced, for example after a failover. */
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
