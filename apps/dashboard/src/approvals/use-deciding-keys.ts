import { useKeys } from '../components/use-keys.js';
import { useSettled } from '../components/use-settled.js';

const SETTLE_MS = 500;

/**
 * Keys that answer the question that is shown. A key that is held, or pressed when the question has just come up, was meant for the
 * one before. Returns whether they are taken.
 */
export function useDecidingKeys(callId: string, keys: readonly (readonly [key: string, run: () => void])[]): boolean {
  const isSettled = useSettled(callId, SETTLE_MS);
  useKeys(
    keys.map(([key, run]) => [
      key,
      (event) => {
        if (isSettled && !event.repeat) run();
      },
    ]),
  );
  return isSettled;
}
