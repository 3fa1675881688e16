import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { textFrom } from '../../testing/outputs.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { FilePatchTool } from '../file-patch.tool.js';

/** Content and the right to execute of each file, by its path. */
type Tree = Readonly<Record<string, { readonly text: string; readonly executable: boolean }>>;

const RUNS = Number(process.env['RANDOM_PATCHES'] ?? 40);
const PATHS = ['a', 'b/a', 'with space.txt', 'b/é "q".md', 'c.sh'];
const line = fc.constantFrom(
  'one',
  'two',
  '',
  ' ',
  '-',
  '--',
  '-- ',
  '-- a',
  '++ b',
  '+',
  '@@',
  '@@ -1 +1 @@',
  '\\ x',
  'é',
  '\tx ',
  'x\r',
  'y\r',
  '*** End Patch',
  '```',
);
/** Each line once, so that it fits in one place only. */
const distinct = fc.integer({ min: 1, max: 30 }).map((count) => Array.from({ length: count }, (_item, index) => `line ${index}`));
const joined = (lines: readonly string[], isEnded: boolean): string => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : '');
const edit = fc.record({ at: fc.nat(), removed: fc.nat({ max: 3 }), added: fc.array(line, { maxLength: 3 }) });
const edited = (lines: readonly string[], edits: readonly { at: number; removed: number; added: string[] }[]): string[] =>
  edits.reduce<string[]>((before, { at, removed, added }) => before.toSpliced(at % (before.length + 1), removed, ...added), [...lines]);

/** A file before and after. */
const change = fc
  .record({
    lines: fc.array(line, { maxLength: 25 }),
    edits: fc.array(edit, { maxLength: 3 }),
    ends: fc.tuple(fc.boolean(), fc.boolean()),
    modes: fc.tuple(fc.boolean(), fc.boolean()),
  })
  .map(({ lines, edits, ends, modes }) => ({
    before: { text: joined(lines, ends[0]), executable: modes[0] },
    after: { text: joined(edited(lines, edits), ends[1]), executable: modes[1] },
    moved: lines.length > 8 && edits.length < 2,
  }));
const kind = fc.constantFrom('change', 'change', 'create', 'delete', 'move', 'same');
const trees = fc.array(fc.tuple(kind, change), { minLength: 1, maxLength: PATHS.length }).map((files) => {
  const before: Record<string, Tree[string]> = {};
  const after: Record<string, Tree[string]> = {};
  for (const [index, [what, file]] of files.entries()) {
    const path = PATHS[index] ?? '';
    if (what !== 'create') before[path] = file.before;
    if (what === 'move' && file.moved) after[`moved/${index}`] = file.after;
    else if (what !== 'delete') after[path] = what === 'same' ? file.before : file.after;
  }
  return { before, after };
});

const APPLIED = /^(?:(?:Changed|Created|Deleted|Renamed|Copied|Made) .*(?:\n|$))+$/;

let home: string;
let count = 0;
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'toolyard-patches-')));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const run = (cwd: string, command: string, args: readonly string[], input = '', ends: readonly number[] = [0]): string => {
  try {
    return execFileSync(command, args, {
      cwd,
      input,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home, LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { status, stdout } = error as { status?: number; stdout?: string };
    if (status !== undefined && ends.includes(status)) return stdout ?? '';
    throw error;
  }
};
const git = (cwd: string, args: readonly string[], input?: string) =>
  run(cwd, 'git', ['-c', 'core.autocrlf=false', '-c', 'core.safecrlf=false', ...args], input);

async function folder(tree: Tree, name = ''): Promise<string> {
  const root = join(home, String((count += 1)), name);
  await mkdir(root, { recursive: true });
  for (const [path, { text, executable }] of Object.entries(tree)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    await chmod(join(root, path), executable ? 0o755 : 0o644);
  }
  return root;
}

async function treeOf(root: string): Promise<Tree> {
  const tree: Record<string, Tree[string]> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const at = join(entry.parentPath, entry.name);
    const path = at.slice(root.length + 1);
    if (!entry.isFile() || path.startsWith('.git/')) continue;
    tree[path] = { text: await readFile(at, 'utf8'), executable: ((await stat(at)).mode & 0o100) !== 0 };
  }
  return Object.fromEntries(Object.entries(tree).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const apply = async (root: string, patch: string): Promise<string> => {
  const tool = new FilePatchTool();
  return textFrom(Promise.resolve().then(() => tool.run(tool.complete({ patch }), fakeToolContext({ workspace: { root } }))));
};

async function gitDiff(before: Tree, after: Tree, options: readonly string[]): Promise<string> {
  const root = await folder(before);
  git(root, ['init', '-q']);
  const written = () => {
    git(root, ['add', '-A']);
    return git(root, ['write-tree']).trim();
  };
  const old = written();
  for (const path of Object.keys(before)) await rm(join(root, path));
  for (const [path, { text, executable }] of Object.entries(after)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    await chmod(join(root, path), executable ? 0o755 : 0o644);
  }
  return git(root, ['diff', '--text', ...options, old, written()]);
}

describe('file_patch', () => {
  const options = fc.tuple(
    fc.constantFrom('-U0', '-U1', '-U3', '-U9'),
    fc.constantFrom('--no-renames', '-M', '-C', '-M30%'),
    fc
      .constantFrom('--default-prefix', '--no-prefix', '--src-prefix=i/', '--src-prefix=c/')
      .map((it) => (it === '--default-prefix' ? '-p' : it)),
    fc.constantFrom('--minimal', '--patience', '--stat', '--full-index').map((it) => (it === '--stat' ? '--patch-with-stat' : it)),
  );

  it('makes of any diff of git the files that git has', async () => {
    await fc.assert(
      fc.asyncProperty(trees, options, async ({ before, after }, chosen) => {
        const patch = await gitDiff(before, after, chosen);
        // Lines that are inserted without context get the line ends of the file here.
        const isWindows = Object.values(before).some(({ text }) => text.includes('\r\n') && !/(?<!\r)\n/.test(text));
        if (patch === '' || (chosen.includes('-U0') && isWindows)) return;
        const [ours, gits] = [await folder(before), await folder(before)];
        git(gits, ['apply', '--unidiff-zero', ...(chosen.includes('--no-prefix') ? ['-p0'] : [])], patch);
        const said = await apply(ours, patch);
        expect({ said, patch, tree: await treeOf(ours) }).toEqual({
          said: expect.stringMatching(APPLIED),
          patch,
          tree: await treeOf(await folder(after)),
        });
        expect(await treeOf(ours)).toEqual(await treeOf(gits));
      }),
      { numRuns: RUNS },
    );
  });

  it('applies a git diff to a file that has grown, with the same result as git', async () => {
    const grown = fc.tuple(distinct, fc.array(edit, { minLength: 1, maxLength: 3 }), fc.nat({ max: 40 }));
    await fc.assert(
      fc.asyncProperty(grown, async ([lines, edits, more]) => {
        const tree = (text: string): Tree => ({ a: { text, executable: false } });
        const patch = await gitDiff(tree(joined(lines, true)), tree(joined(edited(lines, edits), true)), []);
        const head = Array.from({ length: more }, (_item, index) => `head ${index}\n`).join('');
        const since = tree(head + joined(lines, true) + 'tail\n');
        const [ours, gits] = [await folder(since), await folder(since)];
        if (patch === '' || more === 0 || !isApplied(gits, patch)) return;
        const said = await apply(ours, patch);
        expect([said, patch, await treeOf(ours)]).toEqual(['Changed a', patch, await treeOf(gits)]);
      }),
      { numRuns: RUNS },
    );
  });

  const isApplied = (root: string, patch: string): boolean => {
    try {
      git(root, ['apply'], patch);
      return true;
    } catch {
      return false;
    }
  };

  it('makes of any output of diff the files that patch makes', async () => {
    const plain = trees.map(({ before, after }) => {
      // diff has no modes, and omits empty files that are created or deleted.
      const kept = (tree: Tree, other: Tree) =>
        Object.fromEntries(
          Object.entries(tree).flatMap(([path, { text }]) =>
            text === '' && other[path] === undefined ? [] : [[path, { text, executable: false }]],
          ),
        );
      return { before: kept(before, after), after: kept(after, before) };
    });
    await fc.assert(
      fc.asyncProperty(plain, fc.constantFrom('-ruN', '-ruaN', '-rNU1', '-rupN'), async ({ before, after }, flags) => {
        const root = await folder(before, 'old');
        const [base, now] = [dirname(root), join(dirname(root), 'new')];
        await mkdir(now);
        for (const [path, { text }] of Object.entries(after)) {
          await mkdir(dirname(join(now, path)), { recursive: true });
          await writeFile(join(now, path), text);
        }
        const patch = run(base, 'diff', [flags, '-a', 'old', 'new'], '', [0, 1]);
        if (patch === '') return;
        const [ours, patched] = [await folder(before), await folder(before)];
        run(patched, 'patch', ['-p1', '-s', '--binary'], patch);
        const said = await apply(ours, patch);
        expect({ said, patch, tree: await treeOf(ours) }).toEqual({
          said: expect.stringMatching(APPLIED),
          patch,
          tree: await treeOf(await folder(after)),
        });
        expect(await treeOf(ours)).toEqual(await treeOf(patched));
      }),
      { numRuns: RUNS },
    );
  });
});
