import { posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { globFolder, projectPath } from './project-path.js';

const view = { root: '/home/me/project', cwd: '/home/me/project/src' };

describe('projectPath', () => {
  it.each([
    ['/home/me/project/src/a.ts', 'src/a.ts'],
    ['a.ts', 'src/a.ts'],
    ['../.env', '.env'],
    ['/home/me/project', '.'],
    ['/home/me/project2/a', '/home/me/project2/a'],
    ['../../../you/.ssh/id', '/home/you/.ssh/id'],
    ['/home/me/project/../../you', '/home/you'],
    ['//etc/./passwd', '/etc/passwd'],
    ['~/.ssh/id', '~/.ssh/id'],
    [String.raw`C:\Windows\x`, '/C:/Windows/x'],
  ])('reads the path %s as %s for the policy', (path, expected) => expect(projectPath(path, view)).toBe(expected));

  it('reads projects on drives of Windows', () => {
    const windows = { root: String.raw`C:\work`, cwd: String.raw`C:\work\src` };
    expect(projectPath(String.raw`C:\work\src\a.ts`, windows)).toBe('src/a.ts');
    expect(projectPath(String.raw`D:\a.ts`, windows)).toBe('/D:/a.ts');
  });

  it('judges the file that a link names', () => {
    const realPath = (path: string) => path.replace('/home/me/project/src/link', '/etc');
    expect(projectPath('link/passwd', { ...view, realPath })).toBe('/etc/passwd');
  });

  it('returns no relative path for a file outside of the project', () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'project', 'home', 'me', 'src');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, absolute) => {
        const path = (absolute ? '/' : '') + parts.join('/');
        const inside = `${posix.resolve(view.cwd, path)}/`.startsWith(`${view.root}/`);
        expect(projectPath(path, view).startsWith('/')).toBe(!inside);
      }),
    );
  });
});

describe('globFolder', () => {
  it.each([
    ['**/*.ts', '.'],
    ['src/**/*.ts', 'src'],
    ['/etc/*', '/etc'],
    ['/*', '/'],
    ['../secrets/{a,b}', '../secrets'],
    ['plain.txt', '.'],
  ])('starts the glob %s in the folder %s', (pattern, folder) => expect(globFolder(pattern)).toBe(folder));
});
