/** How long others may hand jobs to a worker that has said nothing since: a little more than an idle Worker blocks before it asks again. */
const HOLDS_MS = 8_000;

/** What dequeue-or-register.lua says about the note of a worker. */
export const NOTE = { none: 0, stored: 1, wasGone: 2 } as const;

/**
 * The note in Redis by which those who add jobs know that a worker is idle, as the worker sees it. A note is used once, and
 * the worker numbers its notes: what Redis says about them and the messages of those who used them come in any order.
 */
export class IdleRegistration {
  private last = 0;
  private stored = 0;
  private used = 0;
  /** Set while a note is gone and the message of whoever used it has not come. */
  private owed: { readonly number: number; readonly settled: Promise<void>; readonly settle: () => void } | undefined;

  /** The number of the newest note. */
  get newest(): number {
    return this.last;
  }

  /** Resolves when no message is owed any more; undefined when none is. */
  get message(): Promise<void> | undefined {
    return this.owed?.settled;
  }

  /** What dequeue-or-register.lua is to know; `room` is how many slots are free. */
  next(room: number): { readonly number: number; readonly words: readonly string[] } {
    const number = ++this.last;
    return { number, words: [this.stored > this.used ? '1' : '0', String(room), String(number), String(HOLDS_MS)] };
  }

  /** What the script said that was told of this number. */
  answered(number: number, said: unknown): void {
    const before = this.stored;
    this.stored = said === NOTE.stored ? number : 0;
    if (said === NOTE.wasGone && before > this.used) this.owe(before);
  }

  /** A message came for the jobs of this note. */
  wasUsed(number: number): void {
    this.used = Math.max(this.used, number);
    if (this.owed !== undefined && number >= this.owed.number) this.settle();
  }

  /** The note was taken back, and whatever it was used for is known by now. */
  withdrawn(): void {
    this.stored = 0;
    this.settle();
  }

  private owe(number: number): void {
    let settle = () => {};
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.owed = { number, settled, settle };
  }

  private settle(): void {
    this.owed?.settle();
    this.owed = undefined;
  }
}
