const PER_SECOND = 5_000;
const BURST = 20_000;
/** Bytes, and members and items of JSON, that cost as much as one further message. */
const BYTES_A_MESSAGE = 4_096;
const PARTS_A_MESSAGE = 64;
/** Cost after which others get a turn of the event loop: some milliseconds. */
const COST_A_TURN = 64;

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
  private sinceTurn = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.refilledAt = now();
  }

  /** `parts`: members and items of JSON. @throws MessageFlood beyond the budget */
  spend(messages: number, bytes = 0, parts = 0): void {
    if (this.exceeded !== undefined) throw new MessageFlood(this.exceeded);
    const now = this.now();
    const cost = messages + bytes / BYTES_A_MESSAGE + parts / PARTS_A_MESSAGE;
    this.left = Math.min(BURST, this.left + ((now - this.refilledAt) * PER_SECOND) / 1_000) - cost;
    this.refilledAt = now;
    this.sinceTurn += cost;
    if (this.left >= 0) return;
    this.stop(
      `it sent more than ${PER_SECOND} messages a second (a larger one counts for each ${BYTES_A_MESSAGE} bytes or ${PARTS_A_MESSAGE} values)`,
    );
  }

  /** Stops the sender for another reason. @throws MessageFlood always */
  stop(why: string): never {
    if (this.exceeded === undefined) {
      this.exceeded = why;
      this.onExceeded();
    }
    throw new MessageFlood(this.exceeded);
  }

  /** Resolves in the next turn of the event loop once enough was spent in this one; undefined before. */
  turn(): Promise<void> | undefined {
    if (this.sinceTurn < COST_A_TURN) return undefined;
    this.sinceTurn = 0;
    return new Promise((resolve) => setImmediate(resolve));
  }
}
