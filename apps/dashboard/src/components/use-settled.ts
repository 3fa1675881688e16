import { useEffect, useState } from 'react';

/** Whether the same thing has been shown for `ms`: what comes up under a hand that is already moving is not answered by it. */
export function useSettled(shown: string | undefined, ms: number): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(shown), ms);
    return () => {
      clearTimeout(timer);
      setSettled(undefined);
    };
  }, [shown, ms]);
  return shown !== undefined && settled === shown;
}
