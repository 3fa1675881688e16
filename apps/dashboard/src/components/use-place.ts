import { useEffect, useState, type RefObject } from 'react';

/**
 * Changes whenever the element moves on the page or changes its height, because it or something around it does. Scrolling moves
 * nothing. Undefined until it is measured.
 */
export function usePlace(ref: RefObject<HTMLElement | null>): string | undefined {
  const [place, setPlace] = useState<string>();
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      const { top, height } = element.getBoundingClientRect();
      setPlace(`${Math.round(top + window.scrollY)} ${Math.round(height)}`);
    });
    for (let each: Element | null = element; each !== null; each = each.parentElement) observer.observe(each);
    return () => observer.disconnect();
  }, [ref]);
  return place;
}
