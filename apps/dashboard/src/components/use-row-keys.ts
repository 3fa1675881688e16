import { useKeys } from './use-keys.js';
import { useRef, type RefObject } from 'react';

/**
 * `j` and `k` (or the arrow keys) move the focus to the link of the next and the previous row, and Enter opens it. A row is an
 * element with `data-row` in the element with the returned ref; its link is the one with `data-open`, else the first.
 */
export function useRowKeys<T extends HTMLElement>(): RefObject<T | null> {
  const list = useRef<T>(null);
  const step = (by: number) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
    (next?.querySelector<HTMLElement>('[data-open]') ?? next?.querySelector<HTMLElement>('a, button'))?.focus();
  };
  useKeys([
    ['j', () => step(1)],
    ['ArrowDown', () => step(1)],
    ['k', () => step(-1)],
    ['ArrowUp', () => step(-1)],
  ]);
  return list;
}
