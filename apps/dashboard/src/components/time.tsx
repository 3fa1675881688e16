import { Text, Tooltip } from '@mantine/core';
import { useContext, useSyncExternalStore } from 'react';
import { agoText, durationText, momentText, shortText } from './duration.js';
import { PausedAt } from './paused.js';

const TICK_MS = 500;
let timer: ReturnType<typeof setInterval> | undefined;
let current = Date.now();
const listeners = new Set<() => void>();

/** The current time for components that show it: one timer for all, none without a reader. On a paused page the time of the pause. */
export function useNow(): number {
  const now = useSyncExternalStore(subscribe, read);
  return useContext(PausedAt) ?? now;
}

/** A stable function: React subscribes again for a new one, which would restart the timer. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= startTimer();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function startTimer(): ReturnType<typeof setInterval> {
  current = Date.now();
  return setInterval(() => {
    current = Date.now();
    for (const notify of listeners) notify();
  }, TICK_MS);
}

function read(): number {
  return current;
}

/** A time relative to now, with the full time on hover. */
export function Ago({ at }: { readonly at: number }) {
  const now = useNow();
  const since = now - at;
  return (
    <Tooltip label={momentText(at)} openDelay={300}>
      <Text span inherit style={{ whiteSpace: 'nowrap' }}>
        {agoText(since)}
      </Text>
    </Tooltip>
  );
}

/** The time since then, live. `short`: one unit only. */
export function Since({ at, short = false }: { readonly at: number; readonly short?: boolean }) {
  const ms = Math.max(0, useNow() - at);
  return <>{short ? shortText(ms) : durationText(ms)}</>;
}

export function Duration({ ms }: { readonly ms: number | undefined }) {
  return ms === undefined ? (
    <Text span inherit c="dimmed">
      –
    </Text>
  ) : (
    <>{durationText(ms)}</>
  );
}
