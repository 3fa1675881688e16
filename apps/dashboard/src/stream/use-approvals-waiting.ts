import { useCallback, useSyncExternalStore } from 'react';
import { useToolyard } from './toolyard.js';

/** How many calls wait for a person, also while the tab is hidden and draws no frames. Rendered again only when it changes. */
export function useApprovalsWaiting(): number {
  const { board, feed } = useToolyard();
  const subscribe = useCallback(
    (notify: () => void) => {
      const stopBoard = board.subscribe(notify);
      // In a microtask: the board may hear of the events after this.
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
