import { Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { durationText, momentText } from './duration.js';

const TICK_MS = 500;
let timer: ReturnType<typeof setInterval> | undefined;
let current = Date.now();
const listeners = new Set<() => void>();

/** The time, for everything on the page that grows with it: one timer for all, none while nobody looks. */
export function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      timer ??= setInterval(() => {
        current = Date.now();
        for (const tell of listeners) tell();
      }, TICK_MS);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    () => current,
  );
}

function agoText(ms: number): string {
  if (ms < 2000) return 'just now';
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s ago` : `${durationText(ms)} ago`;
}

/** A moment as its distance from now, with the whole of it on hover. */
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

/** How long since; grows. */
export function Since({ at }: { readonly at: number }) {
  const now = useNow();
  return <>{durationText(Math.max(0, now - at))}</>;
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
