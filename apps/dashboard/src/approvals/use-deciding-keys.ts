import { useEffect, useState } from 'react';
import { useKeys } from '../components/use-keys.js';
import { useSettled } from '../components/use-settled.js';

const SETTLE_MS = 500;

/**
 * Keys that answer the question that is shown. A key that is held, or pressed when the question has just come up, was meant for the
 * one before; while a person types on, none is taken. `shown` names the question and its state. Returns whether keys are taken.
 */
export function useDecidingKeys(shown: string, keys: readonly (readonly [key: string, run: () => void])[]): boolean {
  const [typed, setTyped] = useState(0);
  const isSettled = useSettled(`${shown} ${typed}`, SETTLE_MS);
  useEffect(() => {
    if (isSettled) return undefined;
    const onKey = () => setTyped((before) => before + 1);
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [isSettled]);
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
