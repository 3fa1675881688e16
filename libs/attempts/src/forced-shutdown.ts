import { SwapRemoveList } from './swap-remove-list.js';

/**
 * The moment at which even the last writes are given up. Every call that is being written down listens, so to listen is an
 * entry in a list and no more.
 */
export class ForcedShutdown {
  private readonly listeners = new SwapRemoveList<() => void>();
  private hasTriggered = false;

  get triggered(): boolean {
    return this.hasTriggered;
  }

  /** Calls the listener once, at once when the moment has passed. Answers how to listen no more. */
  on(listener: () => void): () => void {
    if (this.hasTriggered) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  trigger(): void {
    this.hasTriggered = true;
    for (const listener of this.listeners.all()) {
      this.listeners.delete(listener);
      listener();
    }
  }
}
