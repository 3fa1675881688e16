import { z } from 'zod';
import type { FailureGroup } from '#contracts';
import { WindowSearch } from '../components/time-window.js';
import { markOf } from './failure-marks.js';

/** Orders of the groups; without one, most calls first. */
export const FAILURE_ORDERS = { calls: 'Most calls', last: 'Last seen', new: 'New first' } as const;
export type FailureOrder = keyof typeof FAILURE_ORDERS;

const Order = z.enum(['calls', 'last', 'new']);

/** The address of the page of failures. `q`: words of the groups to show. `peek`: the group beside the list. */
export const FailureSearch = WindowSearch.extend({
  sort: Order.optional().catch(undefined),
  q: z.string().optional().catch(undefined),
  peek: z.string().optional().catch(undefined),
});
export type FailureSearch = z.output<typeof FailureSearch>;

export function failureOrderOf(text: string): FailureOrder {
  return Order.catch('calls').parse(text);
}

/** Groups that have all words in their message, code, tool, arguments or names, in this order. */
export function shownGroups(
  groups: readonly FailureGroup[],
  { q = '', sort = 'calls' }: Pick<FailureSearch, 'q' | 'sort'>,
  windowMs: number,
): FailureGroup[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = groups.filter((group) => {
    const text = textOf(group);
    return words.every((word) => text.includes(word));
  });
  const newest = (a: FailureGroup, b: FailureGroup) => Date.parse(b.lastSeen) - Date.parse(a.lastSeen);
  switch (sort) {
    case 'calls':
      return found;
    case 'last':
      return found.toSorted(newest);
    case 'new': {
      const rank = (group: FailureGroup) => (markOf(group, windowMs) === undefined ? 1 : 0);
      return found.toSorted((a, b) => rank(a) - rank(b) || newest(a, b));
    }
  }
}

function textOf({ message, code, tool, preview = '', agents, sessions }: FailureGroup): string {
  return [message, code ?? 'error result', tool, preview, ...agents.names, ...sessions.names].join('\n').toLowerCase();
}

/** Sums of all groups: calls by part of the period, and how many groups are new. */
export function failureSums(groups: readonly FailureGroup[], windowMs: number) {
  const parts = Math.max(0, ...groups.map(({ counts }) => counts.length));
  return {
    calls: groups.reduce((sum, { count }) => sum + count, 0),
    fresh: groups.filter((group) => markOf(group, windowMs) !== undefined).length,
    counts: Array.from({ length: parts }, (_, part) => groups.reduce((sum, { counts }) => sum + (counts[part] ?? 0), 0)),
  };
}
