/** Missing event, with the events seen instead. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** Wakes waiting checks after each event. */
export class Changes {
  private waiters = new Set<() => void>();

  constructor(private readonly timeoutMs: number) {}

  happened(): void {
    for (const wake of this.waiters) wake();
  }

  /** Resolves with the first answer that is not undefined. @throws CheckFailed after the time limit; `what` is read then */
  until<T>(answer: () => T | undefined, what: () => string, ms = this.timeoutMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        let found: T | undefined;
        try {
          found = answer();
        } catch (error) {
          stop();
          return reject(error instanceof Error ? error : new Error(String(error)));
        }
        if (found === undefined) return;
        stop();
        resolve(found);
      };
      const stop = () => {
        clearTimeout(timer);
        this.waiters.delete(look);
      };
      const timer = setTimeout(() => {
        stop();
        reject(new CheckFailed(`Expected ${what()} within ${ms} ms.`));
      }, ms);
      this.waiters.add(look);
      look();
    });
  }
}
