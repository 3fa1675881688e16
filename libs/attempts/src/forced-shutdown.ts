import { SwapRemoveList } from './swap-remove-list.js';

/**
 * The end of a drain: from here on no write is repeated. Every attempt that is being committed listens, so a listener
 * is one entry in a list, not an AbortSignal listener.
 */
export class ForcedShutdown {
  private readonly listeners = new SwapRemoveList<() => void>();
  private hasTriggered = false;

  get triggered(): boolean {
    return this.hasTriggered;
  }

  /** Calls the listener once, at once after the trigger. Returns a function that removes it. */
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
