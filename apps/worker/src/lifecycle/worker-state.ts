import { setMaxListeners } from 'node:events';

/** Where this worker is in its life. Each step is taken once and never back. */
export class WorkerState {
  readonly startedAt = new Date();
  private readonly leave = new AbortController();
  private isDraining = false;

  constructor() {
    // Every call that is being written down listens; their number is bounded by the slots.
    setMaxListeners(0, this.leave.signal);
  }

  /** Takes no new calls; not ready any more. */
  get draining(): boolean {
    return this.isDraining;
  }

  /** Aborted when even the last writes are given up. */
  get leaving(): AbortSignal {
    return this.leave.signal;
  }

  drain(): void {
    this.isDraining = true;
  }

  giveUp(): void {
    this.leave.abort();
  }
}
