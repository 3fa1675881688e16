import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { byChanges } from './support/time-box/by-changes.mjs';

const pathsOf = (files: readonly { path: string }[]) => files.map(({ path }) => path);

const FILES = ['test/faults/a.spec.ts', 'test/faults/archive.spec.ts', 'test/deploy/packages.spec.ts', 'libs/x/y.modes.spec.ts'].map(
  (path) => ({ path }),
);

describe('the order of thorough test files', () => {
  it('begins with changed files, then files of changed folders and areas, then the others', () => {
    const order = (...changed: string[]) => pathsOf(byChanges(FILES, { commits: 0, changed }));
    expect(order('test/faults/a.spec.ts')[0]).toBe('test/faults/a.spec.ts');
    expect(order('libs/x/y.ts')[0]).toBe('libs/x/y.modes.spec.ts');
    expect(order('libs/archive/src/erase.ts')[0]).toBe('test/faults/archive.spec.ts');
    expect(order('libs/archive/src/erase.ts', 'test/deploy/packages.spec.ts').slice(0, 2)).toEqual([
      'test/deploy/packages.spec.ts',
      'test/faults/archive.spec.ts',
    ]);
  });

  it('begins at another file for each number of commits', () => {
    const first = [0, 1, 2, 3].map((commits) => byChanges(FILES, { commits, changed: [] })[0]?.path);
    expect(new Set(first)).toEqual(new Set(pathsOf(FILES)));
  });

  it('lists each thorough test file once in the order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), fc.array(fc.string()), fc.nat(), (paths, changed, commits) => {
        const files = paths.map((path) => ({ path }));
        const order = byChanges(files, { commits, changed: [...changed, ...paths.slice(0, 2)] });
        expect(pathsOf(order).toSorted()).toEqual(paths.toSorted());
      }),
    );
  });
});
