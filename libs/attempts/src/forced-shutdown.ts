import { SwapRemoveList } from './swap-remove-list.js';

/**
 * End of a drain, after which no write is repeated. Every attempt in its commit listens, so a listener is one entry in a list,
 * not an AbortSignal listener.
 */
export class ForcedShutdown {
  private readonly listeners = new SwapRemoveList<() => void>();
  private hasTriggered = false;

  get triggered(): boolean {
    return this.hasTriggered;
  }

  /** Calls the listener once on the trigger, or immediately after it. Returns a function that removes it. */
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
