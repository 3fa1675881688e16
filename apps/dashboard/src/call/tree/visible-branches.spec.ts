import { describe, expect, it } from '@jest/globals';
import type { CallRow } from '../../calls/call-row.js';
import type { Branch } from '../../calls/session-tree.js';
import { visibleBranches } from './visible-branches.js';

const branch = (id: string, depth: number): Branch => ({ row: { id } as CallRow, depth });
const shown = (branches: readonly Branch[], toggled: string[] = [], here = 'root') =>
  visibleBranches(branches, new Set(toggled), here).map(({ row, below, isFolded }) => `${row.id} ${below}${isFolded ? ' folded' : ''}`);

describe('the branches of a tree that are shown', () => {
  const small = [branch('root', 0), branch('a', 1), branch('a1', 2), branch('b', 1)];

  it('shows all branches of a small tree except folded ones', () => {
    expect(shown(small)).toEqual(['root 3', 'a 1', 'a1 0', 'b 0']);
    expect(shown(small, ['a'])).toEqual(['root 3', 'a 1 folded', 'b 0']);
    expect(shown(small, ['b'])).toEqual(['root 3', 'a 1', 'a1 0', 'b 0']);
  });

  it('shows the upper levels of a large tree, and the way to the call that is looked at', () => {
    const large = [...small, ...Array.from({ length: 100 }, (_, n) => branch(`c${n}`, 1)), branch('deep', 2)];
    expect(shown(large).slice(0, 3)).toEqual(['root 104', 'a 1 folded', 'b 0']);
    expect(shown(large, [], 'a1').slice(0, 3)).toEqual(['root 104', 'a 1', 'a1 0']);
    expect(shown(large, ['c99']).at(-1)).toBe('deep 0');
  });
});
