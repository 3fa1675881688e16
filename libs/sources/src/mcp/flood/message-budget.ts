const PER_SECOND = 5_000;
const BURST = 20_000;

/** The server sends more than it may. Its text is the reason for the operator. */
export class MessageFlood extends RangeError {
  override readonly name = 'MessageFlood';
}

/**
 * How many messages a server may send, counted by their lines: each costs time of the worker, which serves other tenants
 * too. Refilled with time; a server that used it up has `exceeded` it for good.
 */
export class MessageBudget {
  /** Why the server is stopped; undefined while it keeps to the budget. */
  exceeded: string | undefined;
  /** Called once, when it is exceeded. */
  onExceeded: () => void = () => {};
  private left = BURST;
  private refilledAt: number;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.refilledAt = now();
  }

  /** @throws MessageFlood beyond the budget */
  spend(lines: number): void {
    if (this.exceeded !== undefined) throw new MessageFlood(this.exceeded);
    const now = this.now();
    this.left = Math.min(BURST, this.left + ((now - this.refilledAt) * PER_SECOND) / 1_000) - lines;
    this.refilledAt = now;
    if (this.left >= 0) return;
    this.exceeded = `it sent more than ${PER_SECOND} messages a second`;
    this.onExceeded();
    throw new MessageFlood(this.exceeded);
  }
}
