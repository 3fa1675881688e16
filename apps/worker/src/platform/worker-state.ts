import { ForcedShutdown } from '#attempts';

/** Lifecycle state of this worker. Each step is irreversible. */
export class WorkerState {
  readonly startedAt = new Date();
  readonly forcedShutdown = new ForcedShutdown();
  private isDraining = false;

  /** True after the drain began: no new calls, not ready. */
  get draining(): boolean {
    return this.isDraining;
  }

  drain(): void {
    this.isDraining = true;
  }

  forceShutdown(): void {
    this.forcedShutdown.trigger();
  }
}
