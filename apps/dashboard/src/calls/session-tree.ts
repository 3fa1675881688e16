import { byNewest, type CallRow } from './call-row.js';

export interface Branch {
  readonly row: CallRow;
  readonly depth: number;
}

/** Calls in the order they were made, each followed by its children; a child without its parent in the list is at the top level. */
export function treeOf(rows: readonly CallRow[]): Branch[] {
  const known = new Set(rows.map(({ id }) => id));
  const children = new Map<string | undefined, CallRow[]>();
  for (const row of rows.toSorted((a, b) => byNewest(b, a))) {
    const parent = row.parentCallId !== undefined && known.has(row.parentCallId) ? row.parentCallId : undefined;
    const siblings = children.get(parent);
    if (siblings) siblings.push(row);
    else children.set(parent, [row]);
  }
  const branches: Branch[] = [];
  const pending = (children.get(undefined) ?? []).toReversed().map((row) => ({ row, depth: 0 }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    branches.push(next);
    const { depth, row } = next;
    for (const child of (children.get(row.id) ?? []).toReversed()) pending.push({ row: child, depth: depth + 1 });
  }
  return branches;
}
