import { useCallback, useSyncExternalStore } from 'react';

/**
 * A store that changes more often than the screen is drawn. Subscribers are called at most once a frame, and not while the page
 * is hidden, when browsers draw no frames. The first frame afterwards shows everything.
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

/** Renders the component when the store has changed, at most once a frame. The number is a dependency for `useMemo`. */
export function useFrames(store: FrameStore): number {
  return useSyncExternalStore(store.subscribe, store.read);
}

/** Like `useFrames`, but at most once in `ms`: for pages that are drawn from thousands of rows. */
export function useSlowFrames(store: FrameStore, ms: number): number {
  const subscribe = useCallback(
    (notify: () => void) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const stop = store.subscribe(() => {
        timer ??= setTimeout(() => {
          timer = undefined;
          notify();
        }, ms);
      });
      return () => {
        clearTimeout(timer);
        stop();
      };
    },
    [store, ms],
  );
  return useSyncExternalStore(subscribe, store.read);
}
