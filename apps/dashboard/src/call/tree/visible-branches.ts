import type { Branch } from '../../calls/session-tree.js';

/** Number of calls in a tree from which levels below the second start folded. */
const MANY = 60;

export interface ShownBranch extends Branch {
  /** How many calls are below it, on all levels. */
  readonly below: number;
  readonly isFolded: boolean;
}

/** Branches without those below a folded one. `toggled`: branches folded by a person, or unfolded if they start folded. */
export function visibleBranches(branches: readonly Branch[], toggled: ReadonlySet<string>, here: string): ShownBranch[] {
  const below = countsBelow(branches);
  const wayToHere = ancestorsOf(branches, here);
  const shown: ShownBranch[] = [];
  let foldedDepth = Number.POSITIVE_INFINITY;
  for (const [index, branch] of branches.entries()) {
    if (branch.depth > foldedDepth) continue;
    const count = below[index] ?? 0;
    const startsFolded = branches.length > MANY && branch.depth > 0 && !wayToHere.has(branch.row.id);
    const isFolded = count > 0 && startsFolded !== toggled.has(branch.row.id);
    foldedDepth = isFolded ? branch.depth : Number.POSITIVE_INFINITY;
    shown.push({ ...branch, below: count, isFolded });
  }
  return shown;
}

function countsBelow(branches: readonly Branch[]): number[] {
  const counts = branches.map(() => 0);
  const open: number[] = [];
  for (const [index, { depth }] of branches.entries()) {
    open.length = depth;
    for (const above of open) counts[above] = (counts[above] ?? 0) + 1;
    open.push(index);
  }
  return counts;
}

/** The call itself and all that are above it. */
function ancestorsOf(branches: readonly Branch[], id: string): ReadonlySet<string> {
  const path: string[] = [];
  for (const { row, depth } of branches) {
    path.length = depth;
    path.push(row.id);
    if (row.id === id) return new Set(path);
  }
  return new Set();
}
