import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeniedPaths, Workspace } from '#tool-sdk';
import { nearPaths } from './near-paths.js';
import { openBeneath } from './open-beneath.js';
import { resolveFile } from './resolved-file.js';

let home: string;
let root: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'near-paths-')));
  root = join(home, 'work');
  await mkdir(root);
});
afterEach(() => rm(home, { recursive: true }));

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), '');
  }
}

const HIDDEN = ['secret', 'main.js'];
const isHidden = (path: string): boolean => path.split('/').some((name) => HIDDEN.includes(name));

/** A new workspace. Without `hidden`, what is denied is not there, but the folders that it would be in. */
async function build(files: readonly string[], links: readonly (readonly [string, string])[], { hidden }: { hidden: boolean }) {
  await rm(root, { recursive: true, force: true });
  await mkdir(root);
  for (const file of files) {
    const names = file.split('/');
    const folder = names.slice(0, isHidden(file) ? names.findIndex(isHidden) : -1);
    await mkdir(join(root, ...folder), { recursive: true }).catch(() => undefined);
    if (hidden || !isHidden(file)) await put(file).catch(() => undefined);
  }
  // Ignores a link through a denied link, which does not exist.
  for (const [at, to] of links) if (!isHidden(at)) await symlink(to, join(root, at)).catch(() => undefined);
}

/** Denies paths with one of these names. */
const denying = (...names: string[]): DeniedPaths => ({
  denialReason: (path) => (path.split('/').some((name) => names.includes(name)) ? 'It is denied.' : undefined),
  mayDenyBelow: () => true,
});

const near = (path: string, more: Partial<Workspace> = {}, mostEntries?: number) =>
  nearPaths(resolveFile({ root, ...more }, path, 'read'), mostEntries);

describe('nearPaths', () => {
  it.each([
    ['a typing error', 'src/mian.ts', ['src/main.ts']],
    ['another letter case', 'SRC/Main.TS', ['src/main.ts']],
    ['a missing extension', 'src/main', ['src/main.ts']],
    ['another extension', 'src/main.python', ['src/main.ts']],
    ['a misspelt folder', 'scr/main.ts', ['src/main.ts']],
    ['a misspelt folder far up', 'scr/deep/er/a.md', ['src/deep/er/a.md']],
    ['two misspelt names', 'scr/deep/re/a.md', ['src/deep/er/a.md']],
    ['a folder', 'src/dep', ['src/deep']],
    ['an absolute path in the workspace', '{root}/src/mian.ts', ['src/main.ts']],
    ['the nearest first, at most three', 'notes/note1.md', ['notes/note1.txt', 'notes/note2.md', 'notes/note3.md']],
    ['nothing near', 'src/picture.png', []],
    ['nothing near below a folder that is near', 'scr/picture.png', []],
    ['a file where a folder is meant', 'src/main.tx/a', []],
    ['a path that is there', 'src/main.ts', []],
    ['the workspace itself', '.', []],
  ])('finds near paths for %s', async (_title, path, found) => {
    await put('src/main.ts', 'src/deep/er/a.md', 'lib/other.ts', 'notes/note1.txt', ...[2, 3, 4, 5].map((n) => `notes/note${n}.md`));
    expect(await near(path.replace('{root}', root))).toEqual(found);
  });

  it('shows near paths of a shared root in a form that can be given', async () => {
    const shared = join(home, 'shared');
    await mkdir(join(shared, 'docs'), { recursive: true });
    await writeFile(join(shared, 'docs/plan.md'), '');
    const roots = [{ path: shared, access: 'read' as const, locks: home }];
    expect(await near(`${shared}/doc/plan.txt`, { roots })).toEqual([`${shared}/docs/plan.md`]);
    expect(await near(`${shared}/wrok/a`, { roots })).toEqual([]);
  });

  it('finds no near paths beside a path that was opened by itself', async () => {
    await writeFile(join(home, 'plan.md'), '');
    const opened = [{ path: join(home, 'plan.txt'), access: 'read' as const, locks: home }];
    expect(await near(join(home, 'plan.txt'), { opened })).toEqual([]);
  });

  it('follows links of near paths that stay inside, and none that leave', async () => {
    await put('src/main.ts');
    await writeFile(join(home, 'main.ts'), '');
    await symlink('src', join(root, 'sources'));
    await symlink('..', join(root, 'outer'));
    await symlink('../main.ts', join(root, 'main1.ts'));
    await symlink('src/main.ts', join(root, 'main2.ts'));
    await symlink('gone.ts', join(root, 'main3.ts'));
    expect(await near('main.ts')).toEqual(['main2.ts']);
    expect(await near('source/main.ts')).toEqual(['sources/main.ts']);
    expect(await near('oter/main.ts')).toEqual([]);
  });

  it('omits denied paths among near ones without losing a place', async () => {
    const hidden = Array.from({ length: 30 }, (_unused, n) => `key.a${n}`);
    await put('key.pem', 'keys/a', 'vault/a', ...hidden);
    await symlink('vault', join(root, 'vautl'));
    await symlink('key.pem', join(root, 'lock'));
    const denied = denying('vault', 'keys', 'lock', ...hidden);
    expect(await near('key', { denied })).toEqual(['key.pem']);
    expect(await near('kes/a', { denied })).toEqual([]);
    expect(await near('vaul', { denied })).toEqual([]);
    expect(await near('valt/a', { denied })).toEqual([]);
    expect(await near('locks', { denied })).toEqual([]);
    expect(await near('vaul')).toEqual(['vault', 'vautl']);
    expect(await near('locks')).toEqual(['lock']);
  });

  it('omits a near file that has another name, which may be denied', async () => {
    await put('.env');
    await link(join(root, '.env'), join(root, 'notes.txt'));
    expect(await near('note.txt')).toEqual(['notes.txt']);
    expect(await near('note.txt', { denied: denying('.env') })).toEqual([]);
  });

  it('leaves out near names that no argument can have, and files that are being written', async () => {
    await put('~/main.ts', 'main\n.ts', '.toolyard-aaaa.tmp');
    expect(await near('-/main.ts')).toEqual([]);
    expect(await near('mainn.ts')).toEqual([]);
    expect(await near('.toolyard-aaa.tmp')).toEqual([]);
  });

  it('reads a limited number of entries of all folders together for near paths', async () => {
    await put(...Array.from({ length: 20 }, (_unused, n) => `notes/note${n}`));
    expect(await near('notes/note', {}, 2)).toHaveLength(2);
    expect(await near('notes/note', {}, 0)).toEqual([]);
    expect(await near('noets/note', {}, 1)).toEqual([]);
    expect(await near('noets/note', {}, 2)).toHaveLength(1);
  });

  it('finds no near paths in a missing workspace, and for a path with very many parts', async () => {
    expect(await near('a/b', { root: join(home, 'gone') })).toEqual([]);
    expect(await near('a/'.repeat(2_000))).toEqual([]);
  });

  it('finds no near paths if the rules fail', async () => {
    await put('main.ts');
    const place = resolveFile({ root }, 'mian.ts', 'read');
    const failing = {
      mayDenyBelow: () => true,
      denialReason: () => {
        throw new Error('no rules');
      },
    };
    expect(await nearPaths(place)).toEqual(['main.ts']);
    expect(await nearPaths({ ...place, denied: failing })).toEqual([]);
  });

  it('suggests only readable near paths, the same with or without denied files', async () => {
    const name = fc.constantFrom(
      'a',
      'main.ts',
      'mian.ts',
      'Main.ts',
      'main',
      'main.js',
      'src',
      'scr',
      'SRC',
      'secret',
      'secert',
      '~',
      'x\ny',
    );
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    const target = fc.oneof(path, fc.constantFrom('..', '../..', '/', '.', '../main.ts', 'secret', '../secret/main.ts'));
    const links = fc.array(fc.tuple(path, target), { maxLength: 4 });
    const wanted = fc.array(fc.oneof(name, fc.constantFrom('man.ts', 'sr', 'secre', '..', 'm')), { minLength: 1, maxLength: 3 });
    let suggested = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(path, { maxLength: 12 }), links, wanted, async (files, linked, names) => {
        await build(files, linked, { hidden: true });
        await writeFile(join(home, 'main.ts'), '');
        const workspace = { root, denied: denying(...HIDDEN) };
        const place = await Promise.resolve(names.join('/'))
          .then((given) => resolveFile(workspace, given, 'read'))
          .catch(() => undefined);
        if (place === undefined) return;
        const found = await nearPaths(place);
        suggested += found.length;
        for (const suggestion of found) {
          const handle = await openBeneath(resolveFile(workspace, suggestion, 'read'));
          await handle.close();
        }
        await build(files, linked, { hidden: false });
        expect(await nearPaths(place)).toEqual(found);
      }),
      { numRuns: 120 },
    );
    expect(suggested).toBeGreaterThan(5);
  });
});
