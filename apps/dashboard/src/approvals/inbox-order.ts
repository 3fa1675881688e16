import type { Call } from '#contracts';
import { groupBy } from '../components/group-by.js';

export const GROUPINGS = ['agent', 'session', 'tool'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface InboxEntry {
  readonly call: Call;
  /** True if the call no longer waits; it keeps its place while a person works in the list. */
  readonly isGone: boolean;
  /** True if the call arrived while a person worked in the list; it is shown at the end. */
  readonly isNew: boolean;
}

export interface InboxGroup {
  readonly name: string;
  readonly entries: readonly InboxEntry[];
}

/**
 * The entries to show. While the list is `still`, as under a pointer, none changes its place: new calls come last, and those that
 * were answered stay. Else they are `calls` as they are.
 */
export function entriesOf(before: readonly InboxEntry[], calls: readonly Call[], still: boolean): InboxEntry[] {
  if (!still) return calls.map((call) => ({ call, isGone: false, isNew: false }));
  const waiting = new Map(calls.map((call) => [call.id, call]));
  const kept = before.map((entry) => ({ ...entry, call: waiting.get(entry.call.id) ?? entry.call, isGone: !waiting.has(entry.call.id) }));
  const known = new Set(before.map(({ call }) => call.id));
  return [...kept, ...calls.filter(({ id }) => !known.has(id)).map((call) => ({ call, isGone: false, isNew: true }))];
}

/** Groups by the value of the field, in the order of their first call. New calls form the last group. */
export function groupsOf(entries: readonly InboxEntry[], grouping: Grouping | undefined): InboxGroup[] {
  if (grouping === undefined) return entries.length === 0 ? [] : [{ name: '', entries }];
  const settled = groupBy(
    entries.filter(({ isNew }) => !isNew),
    ({ call }) => nameOf(call, grouping),
  );
  const fresh = entries.filter(({ isNew }) => isNew);
  const groups = [...settled].map(([name, members]) => ({ name, entries: members }));
  return fresh.length === 0 ? groups : [...groups, { name: 'Just came', entries: fresh }];
}

function nameOf({ agentId, sessionId, tool }: Call, grouping: Grouping): string {
  if (grouping === 'tool') return tool;
  return grouping === 'agent' ? (agentId ?? 'No agent') : (sessionId ?? 'No session');
}

/** Calls with every word of `text` in their tool, agent, session, labels or arguments. */
export function matching(calls: readonly Call[], text: string): readonly Call[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return calls;
  return calls.filter(({ tool, agentId, sessionId, labels, arguments: args }) => {
    const all = [tool, agentId, sessionId, ...Object.values(labels), JSON.stringify(args)].join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
