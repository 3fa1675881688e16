import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { textFrom } from '../../testing/outputs.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { FilePatchTool } from '../file-patch.tool.js';

/** Contents by path; with a mode where the file may be executed. */
type Tree = Readonly<Record<string, string | readonly [text: string, mode: number]>>;
interface Pair {
  readonly before: Tree;
  readonly after: Tree;
}

const rows = (count: number, text = (row: number) => `line ${row}`) =>
  Array.from({ length: count }, (_item, at) => `${text(at + 1)}\n`).join('');
const OLD = rows(30);
const NOW = OLD.replace('line 5\n', 'line five\n').replace('line 20\n', 'line 20\nline 20b\n').replace('line 28\n', '');
const LIKE = rows(40, (row) => (row % 4 === 0 ? '}' : `x${row % 4}`));
const HEADERS = '-- a\n++ b\n@@ x\ndiff --git a b\n--- x\n+++ y\n*** z\n\\ n\n';

const PAIRS: Readonly<Record<string, Pair>> = {
  'a change': { before: { 'src/f.ts': OLD }, after: { 'src/f.ts': NOW } },
  'Windows line ends': { before: { f: OLD.replaceAll('\n', '\r\n') }, after: { f: NOW.replaceAll('\n', '\r\n') } },
  'mixed line ends': { before: { f: `a\r\nb\nc\r\nd\n${OLD}` }, after: { f: `a\r\nB\nc\r\nd\r\n${OLD}` } },
  'no line end at the end': {
    before: { f: OLD.trimEnd(), g: OLD, h: OLD.trimEnd() },
    after: { f: NOW.trimEnd(), g: OLD.trimEnd(), h: OLD },
  },
  'new files': { before: { a: 'a\n' }, after: { a: 'a\n', 'new/deep/x.txt': OLD, empty: '', 'run it': ['#!/bin/sh\n', 0o755] } },
  'deleted files': { before: { a: OLD, e: '', b: 'x' }, after: { b: 'y' } },
  renames: { before: { 'a b.txt': OLD, q: `${OLD}q\n` }, after: { 'dir/c d.txt': NOW, 'é "q".md': `${OLD}q\n` } },
  copies: { before: { a: OLD }, after: { a: NOW, b: OLD, 'c d': NOW } },
  modes: { before: { 'run.sh': 'x\n', y: ['y\n', 0o755] }, after: { 'run.sh': ['x\n', 0o755], y: 'z\n' } },
  'byte order marks': { before: { f: `\uFEFF${OLD}`, g: OLD, h: `\uFEFF${OLD}` }, after: { f: OLD, g: `\uFEFF${OLD}`, h: `\uFEFF${NOW}` } },
  'names that are not ASCII': { before: { 'ü/ñ.txt': OLD, 日本: 'x\n' }, after: { 'ü/ñ.txt': NOW, 日本: 'y\n' } },
  'odd names': {
    before: { 'f ': OLD, ' g': OLD, "it's": OLD, 'a\\b': OLD, '-f': OLD, 'a/b/a/b': OLD, 'b/x': OLD },
    after: { 'f ': NOW, ' g': NOW, "it's": NOW, 'a\\b': NOW, '-f': NOW, 'a/b/a/b': NOW, 'b/x': NOW },
  },
  'lines that look like headers': { before: { f: HEADERS }, after: { f: HEADERS.replace('-- a\n', '').replace('x\n', 'w\n-- q\n') } },
  'control characters': {
    before: { f: 'a\vb\fc\n\u001b[31mred\nq\u2028r\nb\rc\n' },
    after: { f: 'a\vb\fc\n\u001b[31mblue\nq\u2028R\nb\rd\n' },
  },
  'lines that are alike': { before: { f: LIKE }, after: { f: LIKE.split('\n').with(21, 'CHANGED').join('\n') } },
  'an emptied and a filled file': { before: { f: 'x\ny\n', g: '' }, after: { f: '', g: 'x\ny\n' } },
  'two files that change places': { before: { a: OLD, b: LIKE }, after: { a: LIKE, b: OLD } },
  'three files that change places': { before: { a: OLD, b: LIKE, c: HEADERS }, after: { a: HEADERS, b: OLD, c: LIKE } },
  'files that take the name of the next one': {
    before: { a: OLD, b: [LIKE, 0o755], c: HEADERS },
    after: { b: NOW, c: [LIKE, 0o755], 'd/e': HEADERS },
  },
};

const DIFFS: readonly (readonly [command: string, reference: string])[] = [
  ...[
    'git diff HEAD~ HEAD',
    'git diff -M HEAD~ HEAD',
    'git diff -C --find-copies-harder HEAD~ HEAD',
    'git diff -B HEAD~ HEAD',
    'git diff -B -M HEAD~ HEAD',
    'git diff -U0 HEAD~ HEAD',
    'git diff -U1 HEAD~ HEAD',
    'git diff -U99 HEAD~ HEAD',
    'git diff -W --inter-hunk-context=9 HEAD~ HEAD',
    'git diff --binary --full-index HEAD~ HEAD',
    'git diff --src-prefix=i/ --dst-prefix=w/ HEAD~ HEAD',
    'git diff -p --stat --summary --numstat --raw HEAD~ HEAD',
    'git -c core.quotePath=false diff HEAD~ HEAD',
    'git -c diff.mnemonicPrefix=true diff HEAD~ HEAD',
    'git show -M',
    'git log -p -1 --stat',
    'git format-patch -1 --stdout',
    'git diff HEAD~ HEAD | sed "s/^/    /"',
  ].map((command) => [command, command.includes('sed') ? 'patch -p1 -s --binary --batch' : 'git apply --unidiff-zero'] as const),
  ['git diff --no-prefix HEAD~ HEAD', 'git apply -p0'],
  ['cd .. && diff -ruN old new', 'patch -p1 -s --binary --batch'],
  ['diff -ruN ../old ../new', 'patch -p2 -s --binary --batch'],
  ['diff -rupNU1 ../old ../new', 'patch -p2 -s --binary --batch'],
  ['diff -ruN --suppress-blank-empty ../old ../new', 'patch -p2 -s --binary --batch'],
];
/** Commands whose output patch programs, or this tool, reject: all or nothing, with the reason. */
const REFUSED = [
  'git diff --word-diff HEAD~ HEAD',
  'git diff --word-diff=porcelain HEAD~ HEAD',
  'git diff --color=always HEAD~ HEAD',
  'git diff --line-prefix="> " HEAD~ HEAD',
  'git diff --output-indicator-new=">" HEAD~ HEAD',
  'git diff --output-indicator-context=. HEAD~ HEAD',
  'git diff --name-status HEAD~ HEAD',
  'git diff -U1 HEAD~ HEAD | sed "s/^+line five/line five/"',
  'diff -rc ../old ../new',
  'diff -r ../old ../new',
  'diff -ry ../old ../new',
  'diff -re ../old ../new',
  'diff -ruT ../old ../new',
];

let home: string;
let count = 0;
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'toolyard-real-patches-')));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const settings = { 'core.autocrlf': 'false', 'core.safecrlf': 'false', 'user.name': 'a', 'user.email': 'a@example.com' };
const gitEnv = Object.fromEntries(
  Object.entries(settings).flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]),
);
const run = (cwd: string, command: string, input = '') => {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_COUNT: String(Object.keys(settings).length),
    ...gitEnv,
  };
  const { stdout, stderr, status } = spawnSync('bash', ['-c', command], { cwd, input, env, encoding: 'utf8' });
  return { stdout, stderr, status };
};

async function put(root: string, tree: Tree): Promise<void> {
  for (const [path, file] of Object.entries(tree)) {
    const [text, mode] = typeof file === 'string' ? [file, 0o644] : file;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    await chmod(join(root, path), mode);
  }
}

async function treeOf(root: string): Promise<Tree> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .map((entry) => ({ entry, at: join(entry.parentPath, entry.name) }))
    .filter(({ entry, at }) => entry.isFile() && !at.includes('/.git/'));
  const read = files.map(async ({ at }) => {
    const mode = ((await stat(at)).mode & 0o100) === 0 ? 0o644 : 0o755;
    return [at.slice(root.length + 1), [(await readFile(at)).toString('latin1'), mode]] as const;
  });
  return Object.fromEntries((await Promise.all(read)).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function folder(tree: Tree): Promise<string> {
  const root = join(home, String((count += 1)), 'root');
  await mkdir(root, { recursive: true });
  await put(root, tree);
  return root;
}

/** A repository with a commit of each, beside folders with each. */
const repositories = new Map<string, Promise<string>>();
const repositoryOf = (name: string, pair: Pair): Promise<string> => {
  const made = repositories.get(name) ?? makeRepository(pair);
  repositories.set(name, made);
  return made;
};
async function makeRepository({ before, after }: Pair): Promise<string> {
  const root = await folder(before);
  await cp(root, join(root, '../old'), { recursive: true });
  run(root, 'git init -q && git add -A && git commit -qm one && git ls-files -z | xargs -0 rm --');
  await put(root, after);
  await put(join(root, '../new'), after);
  run(root, 'git add -A && git commit -qm two');
  return root;
}

async function applied(before: Tree, patch: string): Promise<{ readonly said: string; readonly tree: Tree }> {
  const root = await folder(before);
  const tool = new FilePatchTool();
  const said = await textFrom(Promise.resolve().then(() => tool.run(tool.complete({ patch }), fakeToolContext({ workspace: { root } }))));
  return { said, tree: await treeOf(root) };
}

const APPLIED = /^(?:(?:Changed|Created|Deleted|Renamed|Copied|Made) .*(?:\n|$))+$/;

describe('file_patch', () => {
  it.each(DIFFS)('makes the same bytes of "%s" as "%s" does', async (command, reference) => {
    let compared = 0;
    for (const [name, pair] of Object.entries(PAIRS)) {
      const { stdout: patch } = run(await repositoryOf(name, pair), command);
      const theirs = await folder(pair.before);
      if (patch.trim() === '' || run(theirs, reference, patch).status !== 0) continue;
      const result = await applied(pair.before, patch);
      expect({ name, patch, ...result }).toEqual({ name, patch, said: expect.stringMatching(APPLIED), tree: await treeOf(theirs) });
      compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
  });

  it.each(REFUSED)('changes nothing by the output of "%s"', async (command) => {
    for (const [name, pair] of Object.entries(PAIRS)) {
      const { stdout: patch } = run(await repositoryOf(name, pair), command);
      const { said, tree } = await applied(pair.before, patch === '' ? ' ' : patch);
      if (APPLIED.test(said)) expect({ name, patch, tree }).toEqual({ name, patch, tree: await treeOf(await folder(pair.after)) });
      else expect({ name, patch, tree }).toEqual({ name, patch, tree: await treeOf(await folder(pair.before)) });
    }
  });
});
