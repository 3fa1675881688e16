/**
 * Collects items while a run is in flight, then runs them together: batches grow by themselves under load, and an item that
 * comes while idle waits only for the end of the current turn of the event loop, or of the current callback.
 *
 * Invariant: one run at a time, and an item joins only a run that has not started, so that its reads happen after the item
 * came.
 *
 * No `dataloader`: it starts the next batch while one is in flight, and caches by key.
 */
export class MicroBatcher<Item, Answer> {
  private items: Item[] = [];
  private settlers: Settler<Answer>[] = [];
  private scheduled = false;
  private settled: Promise<void> = Promise.resolve();

  /** `run` returns one answer an item, in order; if it throws, all items of the run are rejected with that error. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>,
    private readonly maxItems: number,
    /** `macrotask`: a run has all items from the I/O of this turn of the event loop. `microtask`: those of the current callback. */
    private readonly schedule: 'macrotask' | 'microtask' = 'macrotask',
  ) {}

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.items.push(item);
      this.settlers.push({ resolve, reject });
      this.scheduleRun();
    });
  }

  /** Resolves when everything added so far has been answered. */
  async idle(): Promise<void> {
    while (this.scheduled) await this.settled;
  }

  private scheduleRun(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.settled = new Promise((resolve) => {
      const defer = this.schedule === 'microtask' ? queueMicrotask : setImmediate;
      defer(() => void this.flush().then(resolve));
    });
  }

  private async flush(): Promise<void> {
    const items = this.items.splice(0, this.maxItems);
    const settlers = this.settlers.splice(0, this.maxItems);
    try {
      const answers = await this.run(items);
      settlers.forEach(({ resolve, reject }, index) => {
        const answer = answers[index];
        if (answer === undefined) reject(new Error(`The run answered ${answers.length} of ${items.length} items.`));
        else resolve(answer);
      });
    } catch (error) {
      for (const { reject } of settlers) reject(error);
    }
    this.scheduled = false;
    if (this.items.length > 0) this.scheduleRun();
  }
}

interface Settler<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
