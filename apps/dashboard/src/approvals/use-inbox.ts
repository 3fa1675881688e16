import { useMemo, useRef, useState } from 'react';
import type { Call } from '#contracts';
import { entriesOf, groupsOf, matching, type InboxEntry } from './inbox-order.js';
import type { InboxSearch } from './inbox-tools.js';

const NONE: ReadonlyMap<string, Call> = new Map();

/** The inbox as a person sees it: filtered, in groups, still while they work in it, and the calls they have selected. */
export function useInbox(calls: readonly Call[], { q = '', group, sort }: InboxSearch) {
  const [isHeld, setHeld] = useState(false);
  /** Calls as they were when selected. */
  const [selected, setSelected] = useState(NONE);
  const before = useRef<{ readonly of: string; readonly entries: readonly InboxEntry[] }>({ of: '', entries: [] });
  const entries = useMemo(() => {
    const of = JSON.stringify([q, sort]);
    const isStill = (isHeld || selected.size > 0) && before.current.of === of;
    before.current = { of, entries: entriesOf(before.current.entries, matching(calls, q), isStill) };
    return before.current.entries;
  }, [calls, q, sort, isHeld, selected.size > 0]);
  const groups = useMemo(() => groupsOf(entries, group), [entries, group]);
  const shown = useMemo(() => groups.flatMap((each) => each.entries.filter(({ isGone }) => !isGone).map(({ call }) => call)), [groups]);
  const select = (chosen: readonly Call[], isSelected: boolean) =>
    setSelected((old) => {
      const next = new Map(old);
      for (const call of chosen) {
        if (isSelected) next.set(call.id, call);
        else next.delete(call.id);
      }
      return next;
    });
  return { groups, shown, selected, select, selectNone: () => setSelected(NONE), setHeld };
}
