import { useSyncExternalStore } from 'react';

/**
 * Something that changes far more often than a screen is drawn. Its readers are told at most once a frame, and not at all
 * while the page is hidden, since browsers draw no frames then; the first frame afterwards shows everything.
 */
export class FrameStore {
  private version = 0;
  private frame: number | undefined;
  private readonly listeners = new Set<() => void>();

  protected changed(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.version += 1;
      for (const listener of this.listeners) listener();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly read = (): number => this.version;
}

/** Draws the component again when the store has changed, at most once a frame. The number is for `useMemo`. */
export function useFrames(store: FrameStore): number {
  return useSyncExternalStore(store.subscribe, store.read);
}
