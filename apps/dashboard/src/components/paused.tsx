import { createContext, useContext, useEffect, useRef } from 'react';

/** The moment at which a person stopped what moves by itself; undefined while it moves. Clocks below it (`useNow`) stand still. */
export const PausedAt = createContext<number | undefined>(undefined);

/** The value; on a paused page the one that was shown last before. */
export function useUnlessPaused<T>(value: T): T {
  const isPaused = useContext(PausedAt) !== undefined;
  const shown = useRef(value);
  useEffect(() => {
    if (!isPaused) shown.current = value;
  });
  return isPaused ? shown.current : value;
}
