import { ForcedShutdown } from '#attempts';

/** Where this worker is in its life. Each step is taken once and never back. */
export class WorkerState {
  readonly startedAt = new Date();
  readonly forcedShutdown = new ForcedShutdown();
  private isDraining = false;

  /** Takes no new calls; not ready any more. */
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
