import { describe, expect, it } from '@jest/globals';
import { FileScope } from './file-scope.js';

const workspace = { root: '/workspaces/acme/default' };
const scopeOf = (outsideRoots: readonly string[]) =>
  new FileScope({ sharedRoots: [], outsideRoots, ownFolders: ['/data'], locks: '/workspaces/~locks' }, { get: async () => undefined });
const openedBy = async (outsideRoots: readonly string[], path: string) => {
  const files = { opened: [{ path, access: 'read' as const }] };
  const { opened = [], unavailable = [] } = await scopeOf(outsideRoots).of(workspace, workspace.root, 'file_read', files);
  return { opened: opened.map((it) => it.path), unopened: unavailable };
};

describe('a path that the decision opens', () => {
  it('opens a path of a decision below OUTSIDE_ROOTS only', async () => {
    expect(await openedBy(['/srv'], '/srv/a')).toEqual({ opened: ['/srv/a'], unopened: [] });
    expect(await openedBy(['/srv'], '/etc/passwd')).toEqual({ opened: [], unopened: ['/etc/passwd'] });
    expect(await openedBy([], '/srv/a')).toEqual({ opened: [], unopened: ['/srv/a'] });
  });

  it('opens no path of this installation, and none that contains one', async () => {
    for (const path of ['/data/key', '/data', '/', '/proc/1/environ'])
      expect(await openedBy(['/'], path)).toEqual({ opened: [], unopened: [path] });
  });
});
