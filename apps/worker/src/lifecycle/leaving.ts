/**
 * The moment at which even the last writes are given up. Every call that is being written down listens.
 *
 * Not an AbortSignal: a listener that was taken off one still points at the next, so that one old listener keeps all that
 * came after it, and the calls they belong to, until the next full collection.
 */
export class Leaving {
  private readonly listeners = new Set<() => void>();
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
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}
