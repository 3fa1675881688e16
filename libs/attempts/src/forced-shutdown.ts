import { SwapRemoveList } from './swap-remove-list.js';

/**
 * The moment at which even the last writes are given up. Every call that is being written down listens, so to listen is an
 * entry in a list and no more.
 */
export class ForcedShutdown {
  private readonly listeners = new SwapRemoveList<() => void>();
  private left = false;

  get begun(): boolean {
    return this.left;
  }

  /** Calls the listener once, at once when the moment has passed. Answers how to listen no more. */
  on(listener: () => void): () => void {
    if (this.left) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  begin(): void {
    this.left = true;
    for (const listener of this.listeners.all()) {
      this.listeners.delete(listener);
      listener();
    }
  }
}
