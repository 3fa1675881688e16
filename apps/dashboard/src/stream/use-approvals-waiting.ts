import { useCallback, useSyncExternalStore } from 'react';
import { useToolyard } from './toolyard.js';

/** How many calls wait for a person, also while the tab is hidden and draws no frames. Rendered again only when it changes. */
export function useApprovalsWaiting(): number {
  const { board, feed } = useToolyard();
  const subscribe = useCallback(
    (notify: () => void) => {
      const stopBoard = board.subscribe(notify);
      // Runs in a microtask: the board may receive the events after this listener.
      const stopFeed = feed.listen(() => queueMicrotask(notify));
      return () => {
        stopBoard();
        stopFeed();
      };
    },
    [board, feed],
  );
  return useSyncExternalStore(subscribe, () => board.now.counts().waitingApproval);
}
