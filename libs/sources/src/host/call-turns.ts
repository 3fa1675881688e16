/** Lets so many calls at a time go on; the others wait, about first come first served. */
export class CallTurns {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(limit = Infinity) {
    this.free = limit;
  }

  /** Rejects with the reason of the signal while it waits. */
  async run<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    while (this.free <= 0) {
      await this.woken(signal);
      if (signal.aborted && this.free > 0) this.wakeNext();
      signal.throwIfAborted();
    }
    this.free -= 1;
    try {
      return await call();
    } finally {
      this.free += 1;
      this.wakeNext();
    }
  }

  private woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }

  private wakeNext(): void {
    const [next] = this.waiting;
    next?.();
  }
}
