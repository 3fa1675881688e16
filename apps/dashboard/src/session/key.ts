import { useSyncExternalStore } from 'react';

const SLOT = 'toolyard.key';
const listeners = new Set<() => void>();

/**
 * Moves `#key=…`, as `npm start` prints it, from the address to `sessionStorage`, so that it is neither in the history nor in a
 * copied link. The key is kept as long as the tab.
 */
export function takeKeyFromAddress(): void {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const key = fragment.get('key');
  if (key === null) return;
  fragment.delete('key');
  const rest = fragment.toString();
  history.replaceState(history.state, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`);
  setKey(key);
}

export function setKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(SLOT);
  else sessionStorage.setItem(SLOT, key);
  for (const listener of listeners) listener();
}

export function useKey(): string | undefined {
  return useSyncExternalStore(subscribe, currentKey);
}

function currentKey(): string | undefined {
  return sessionStorage.getItem(SLOT) ?? undefined;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
