const PER_SECOND = 5_000;
const BURST = 20_000;
/** Bytes that cost as much as one further message. */
const BYTES_A_MESSAGE = 4_096;

/** The sender sends more than it may. Its text is the reason for the operator. */
export class MessageFlood extends RangeError {
  override readonly name = 'MessageFlood';
}

/**
 * How many messages, and of which size, a server, tool or worker may send: each costs time of the process that reads
 * them, which serves other tenants too. Refilled with time; a sender that used it up has `exceeded` it for good.
 */
export class MessageBudget {
  /** Why the sender is stopped; undefined while it keeps to the budget. */
  exceeded: string | undefined;
  /** Called once, when it is exceeded. */
  onExceeded: () => void = () => {};
  private left = BURST;
  private refilledAt: number;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.refilledAt = now();
  }

  /** @throws MessageFlood beyond the budget */
  spend(messages: number, bytes = 0): void {
    if (this.exceeded !== undefined) throw new MessageFlood(this.exceeded);
    const now = this.now();
    this.left = Math.min(BURST, this.left + ((now - this.refilledAt) * PER_SECOND) / 1_000) - messages - bytes / BYTES_A_MESSAGE;
    this.refilledAt = now;
    if (this.left >= 0) return;
    this.exceeded = `it sent more than ${PER_SECOND} messages a second (a larger one counts for each ${BYTES_A_MESSAGE} bytes)`;
    this.onExceeded();
    throw new MessageFlood(this.exceeded);
  }
}
