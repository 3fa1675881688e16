import { shownState, type CallRow } from './call-row.js';

export interface FoldedRow extends CallRow {
  /** Completed runs of the same schedule directly before this one, without rows of their own. */
  readonly earlierRuns?: number;
}

/** Rows with one for consecutive completed runs of a schedule. Failed and open runs keep theirs. */
export function foldedRuns(rows: readonly CallRow[]): FoldedRow[] {
  const folded: FoldedRow[] = [];
  for (const row of rows) {
    const last = folded.at(-1);
    if (last !== undefined && isFoldable(row) && isFoldable(last) && row.scheduleId === last.scheduleId)
      folded[folded.length - 1] = { ...last, earlierRuns: (last.earlierRuns ?? 0) + 1 };
    else folded.push(row);
  }
  return folded;
}

function isFoldable(row: CallRow): boolean {
  return row.scheduleId !== undefined && shownState(row) === 'completed';
}
