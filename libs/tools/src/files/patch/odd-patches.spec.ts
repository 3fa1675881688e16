import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { textFrom } from '../../testing/outputs.js';
import { testWorkspace, type TestWorkspace } from '../../testing/test-workspace.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { FilePatchTool } from '../file-patch.tool.js';

/** Contents by path. */
type Files = Readonly<Record<string, string>>;

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.remove());

async function filesThere(): Promise<Files> {
  const entries = await readdir(workspace.root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(workspace.root.length + 1), await readFile(path, 'utf8')])),
  );
}

async function applied(before: Files, patch: string, paths?: string[]): Promise<string> {
  for (const [path, text] of Object.entries(before)) await workspace.put(path, text);
  await mkdir(workspace.root, { recursive: true });
  return textFrom(new FilePatchTool().run({ patch, paths }, fakeToolContext({ workspace })));
}

const ABC = 'a\nb\nc\n';
const AXC = 'a\nX\nc\n';
const HUNK = '@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n';
const EQUALS = '='.repeat(67);
const both = (old: string, now: string, rest = HUNK): string => `--- ${old}\n+++ ${now}\n${rest}`;
const ofSvn = (name: string, rest = HUNK, after = 'working copy'): string =>
  `Index: ${name}\n${EQUALS}\n${both(`${name}\t(revision 1)`, `${name}\t(${after})`, rest)}`;
const PROPERTY = `\nProperty changes on: f\n${'_'.repeat(67)}\nModified: p\n## -1 +1 ##\n-b\n+X\n`;

describe('file_patch', () => {
  it.each<[what: string, before: Files, patch: string, after: Files, paths?: string[]]>([
    ['names without a/ and b/', { f: ABC }, both('f', 'f'), { f: AXC }],
    ['names with ./', { f: ABC }, both('./f', './f'), { f: AXC }],
    [
      'timestamps behind a tab',
      { f: ABC },
      both('f\t2024-01-01 10:00:00.000000000 +0000', 'f\t2024-01-02 10:00:00.000000000 +0000'),
      { f: AXC },
    ],
    [
      'timestamps behind spaces',
      { 'my file': ABC },
      both('my file  2024-01-01 10:00:00', 'my file  2024-01-01 10:00:00'),
      { 'my file': AXC },
    ],
    ['revisions of svn', { f: ABC }, `Index: f\n${EQUALS}\n${both('f\t(revision 12)', 'f\t(working copy)')}`, { f: AXC }],
    ['a new file of svn', {}, `Index: n\n${EQUALS}\n${both('n\t(nonexistent)', 'n\t(working copy)', '@@ -0,0 +1 @@\n+x\n')}`, { n: 'x\n' }],
    ['a new file of an older svn', {}, ofSvn('n', '@@ -0,0 +1 @@\n+x\n').replace('revision 1', 'revision 0'), { n: 'x\n' }],
    ['a deleted file of svn', { f: 'x\n' }, ofSvn('f', '@@ -1 +0,0 @@\n-x\n', 'nonexistent'), {}],
    [
      'a changeset of hg',
      { f: ABC },
      `diff -r 1a2b -r 3c4d f\n${both('a/f\tThu Jan 01 00:00:00 1970 +0000', 'b/f\tFri Jan 02 00:00:00 1970 +0000')}`,
      { f: AXC },
    ],
    [
      'a new file of hg',
      {},
      `diff -r 1a2b n\n${both('/dev/null\tThu Jan 01 00:00:00 1970 +0000', 'b/n\tFri', '@@ -0,0 +1,1 @@\n+x\n')}`,
      { n: 'x\n' },
    ],
    [
      'two folders of diff -ruN',
      { 's/f': ABC },
      `diff -ruN old/s/f new/s/f\n${both('old/s/f\t2024-01-01', 'new/s/f\t2024-01-01')}`,
      { 's/f': AXC },
    ],
    [
      'a new file of diff -ruN',
      {},
      `diff -ruN old/n new/n\n${both('old/n\t1970-01-01 01:00:00.000000000 +0100', 'new/n\t2024-01-01 00:00:00.0 +0000', '@@ -0,0 +1 @@\n+x\n')}`,
      { n: 'x\n' },
    ],
    [
      'a deleted file of diff -ruN',
      { f: 'x\n' },
      `diff -ruN old/f new/f\n${both('old/f\t2024-01-01 00:00:00.0 +0000', 'new/f\t1970-01-01 00:00:00.000000000 +0000', '@@ -1 +0,0 @@\n-x\n')}`,
      {},
    ],
    ['a file that is emptied', { f: 'x\n' }, both('a/f', 'b/f', '@@ -1 +0,0 @@\n-x\n'), { f: '' }],
    ['a file and its backup', { f: ABC }, both('f.orig', 'f'), { f: AXC }],
    ['two files of which paths names one', { f: ABC }, both('one', 'f'), { f: AXC }, ['f']],
    ['a/ in both names where paths has it without', { f: ABC }, both('a/f', 'a/f'), { f: AXC }, ['f']],
    ['a folder a', { 'a/f': ABC }, both('a/f', 'a/f'), { 'a/f': AXC }],
    ['prefixes of diff.mnemonicPrefix', { f: ABC }, `diff --git i/f w/f\n${both('i/f', 'w/f')}`, { f: AXC }],
    ['git without prefixes in a folder b', { 'b/f': ABC }, `diff --git b/f b/f\n${both('b/f', 'b/f')}`, { 'b/f': AXC }],
    [
      'a deletion without prefixes in a folder b',
      { 'b/f': 'x\n' },
      `diff --git b/f b/f\ndeleted file mode 100644\n--- b/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`,
      {},
    ],
    ['octal escapes', { 'é.txt': ABC }, both('"a/\\303\\251.txt"', '"b/\\303\\251.txt"'), { 'é.txt': AXC }],
    [
      'quoted names of a rename',
      { 'a "b"': 'x\n' },
      'diff --git "a/a \\"b\\"" b/c d\nsimilarity index 100%\nrename from "a \\"b\\""\nrename to c d\n',
      { 'c d': 'x\n' },
    ],
    ['an empty file whose name has a space', {}, 'diff --git a/x y b/x y\nnew file mode 100644\nindex 0000000..e69de29\n', { 'x y': '' }],
    [
      'a mail of format-patch',
      { f: ABC },
      `From 1 Mon Sep 17 00:00:00 2001\nSubject: x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n${both('a/f', 'b/f')}-- \n2.39.5\n`,
      { f: AXC },
    ],
    ['git log -p', { f: ABC }, `commit 123\nAuthor: x\n\n    text\n\ndiff --git a/f b/f\n${both('a/f', 'b/f')}`, { f: AXC }],
    [
      'a removed line with a hyphen, where the counts are wrong',
      { f: 'x\nold\n-\nz\n' },
      both('a/f', 'b/f', '@@ -1,5 +1,3 @@\n x\n-old\n--\n+new\n z\n'),
      { f: 'x\nnew\nz\n' },
    ],
    [
      'a series of mails',
      { f: ABC },
      `${both('a/f', 'b/f')}-- \n2.39.2\n\nFrom ${'0'.repeat(40)} Mon Sep 17 00:00:00 2001\nSubject: [PATCH 2/2] more\n\n---\n f | 2 +-\n\n${both('a/f', 'b/f', '@@ -1,3 +1,3 @@\n-a\n+A\n X\n c\n')}-- \n2.39.2\n`,
      { f: 'A\nX\nc\n' },
    ],
    [
      'the end of a Windows file whose mark was lost',
      { f: 'a\r\nb' },
      both('a/f', 'b/f', '@@ -1,2 +1,2 @@\n a\r\n-b\n+hello\n'),
      { f: 'a\r\nhello' },
    ],
    ['text before and after', { f: ABC }, `I change f:\n\n${both('a/f', 'b/f')}\nThat is all.\n- b is X now\n`, { f: AXC }],
    ['a fence', { f: ABC }, `\`\`\`diff\n${both('a/f', 'b/f')}\`\`\`\n`, { f: AXC }],
    [
      'a fence and wrong counts',
      { f: ABC },
      `\`\`\`patch\n${both('a/f', 'b/f', HUNK.replace('1,3 +1,3', '1,9 +1,2'))}\`\`\`\n\nDone.\n`,
      { f: AXC },
    ],
    ['a byte order mark of the patch', { f: ABC }, `\uFEFF${both('a/f', 'b/f')}`, { f: AXC }],
    ['no line end at its end', { f: ABC }, both('a/f', 'b/f').trimEnd(), { f: AXC }],
    [
      'empty context lines without their space',
      { f: 'a\n\nb\n' },
      both('a/f', 'b/f', '@@ -1,3 +1,3 @@\n a\n\n-b\n+X\n'),
      { f: 'a\n\nX\n' },
    ],
    ['a header without @@ at its end', { f: ABC }, both('a/f', 'b/f', HUNK.replace(' @@\n', '\n')), { f: AXC }],
    ['the function in the header', { f: ABC }, both('a/f', 'b/f', HUNK.replace(' @@\n', ' @@ def f():\n')), { f: AXC }],
    ['a header with a line of the file only', { f: 'x\nb\ny\nb\n' }, both('a/f', 'b/f', '@@ y\n-b\n+X\n'), { f: 'x\nb\ny\nX\n' }],
    ['a header with a part of a line', { f: ABC }, both('a/f', 'b/f', '@@ class of f\n-b\n+X\n'), { f: AXC }],
    ['a deleted file with a byte order mark', { f: '\uFEFFx\n' }, both('a/f', '/dev/null', '@@ -1 +0,0 @@\n-x\n'), {}],
    ['removed lines that look like a header', { f: '-- a\n++ b\n' }, both('a/f', 'b/f', '@@ -1,2 +1 @@\n--- a\n-++ b\n+x\n'), { f: 'x\n' }],
    ['a removed line that looks like a signature', { f: '- \nb\n' }, both('a/f', 'b/f', '@@ -1,2 +1,2 @@\n-- \n+x\n b\n'), { f: 'x\nb\n' }],
    ['a line end that is added', { f: 'a' }, both('a/f', 'b/f', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n'), { f: 'a\n' }],
    ['a line end that is removed', { f: 'a\n' }, both('a/f', 'b/f', '@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n'), { f: 'a' }],
    ['an unended last line without the mark', { f: 'a\nb' }, both('a/f', 'b/f', '@@ -1,2 +1,3 @@\n a\n b\n+c\n'), { f: 'a\nb\nc' }],
    ['line feeds for Windows line ends', { f: 'a\r\nb\r\nc\r\n' }, both('a/f', 'b/f'), { f: 'a\r\nX\r\nc\r\n' }],
    ['Windows line ends for line feeds', { f: ABC }, both('a/f', 'b/f').replaceAll('\n', '\r\n'), { f: AXC }],
    ['a change of line ends', { f: 'a\r\nb\r\n' }, both('a/f', 'b/f', '@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n'), { f: 'a\nb\r\n' }],
    [
      'several hunks that are moved alike',
      { f: 'x\nx\na\nb\na\nb\na\nb\n' },
      both('a/f', 'b/f', '@@ -1,2 +1,2 @@\n x\n-a\n+A\n@@ -4 +4 @@\n-a\n+A\n'),
      { f: 'x\nx\nA\nb\nA\nb\na\nb\n' },
    ],
    [
      'sections for a shell',
      { f: ABC },
      `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n@@\n-b\n+X\n*** End Patch\nEOF\n`,
      { f: AXC },
    ],
    [
      'sections with Windows line ends',
      { f: ABC },
      '*** Begin Patch\r\n*** Update File: f\r\n@@\r\n a\r\n-b\r\n+X\r\n*** End Patch\r\n',
      { f: AXC },
    ],
    ['sections with numbers in their headers', { f: ABC }, `*** Begin Patch\n*** Update File: f\n${HUNK}*** End Patch\n`, { f: AXC }],
    ['a diff between the lines of sections', { f: ABC }, `*** Begin Patch\n${both('a/f', 'b/f')}*** End Patch\n`, { f: AXC }],
    [
      'a header above each hunk',
      { f: ABC },
      both('a/f', 'b/f', '@@ -1 +1 @@\n-a\n+A\n') + both('a/f', 'b/f', '@@ -2,2 +2,2 @@\n b\n-c\n+C\n'),
      { f: 'A\nb\nC\n' },
    ],
    [
      'two commits for one file, which the first creates',
      {},
      `diff --git a/n b/n\nnew file mode 100644\n${both('/dev/null', 'b/n', '@@ -0,0 +1 @@\n+x\n')}diff --git a/n b/n\nold mode 100644\nnew mode 100755\n${both('a/n', 'b/n', '@@ -1 +1 @@\n-x\n+y\n')}`,
      { n: 'y\n' },
    ],
    [
      'two sections of one file',
      { f: ABC },
      '*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n*** Update File: f\n@@\n-A\n+Z\n*** End Patch',
      { f: 'Z\nb\nc\n' },
    ],
    [
      'svn diff --git',
      { f: ABC },
      `Index: f\n${EQUALS}\ndiff --git a/f b/f\n${both('a/f\t(revision 1)', 'b/f\t(working copy)')}`,
      { f: AXC },
    ],
    [
      'properties of svn, which are no lines of the file',
      { f: ABC, g: ABC },
      ofSvn('g') + ofSvn('f', `${PROPERTY}Added: svn:executable\n## -0,0 +1 ##\n+*\n`),
      { f: ABC, g: AXC },
    ],
    [
      'a file that svn renames and deletes',
      { f: ABC },
      `diff --git a/f b/g\nrename from f\nrename to g\n${both('a/f', 'b/g')}${ofSvn('f', '@@ -1,3 +0,0 @@\n-a\n-b\n-c\n', 'nonexistent')}`,
      { g: AXC },
    ],
    ['a/dev/null', {}, both('a/dev/null', 'b/n', '@@ -0,0 +1 @@\n+x\n'), { n: 'x\n' }],
    ['only the first line of a header', { f: ABC }, `--- a/f\n${HUNK}`, { f: AXC }],
    ['only the second line of a header', { f: ABC }, `+++ b/f\n${HUNK}`, { f: AXC }],
    ['only the line of git', { f: ABC }, `diff --git a/f b/f\nindex 1..2 100644\n${HUNK}`, { f: AXC }],
    ['hunks alone for the one file of paths', { f: ABC }, HUNK, { f: AXC }, ['f']],
    ['no header of a hunk', { f: ABC }, both('a/f', 'b/f', ' a\n-b\n+X\n c\n'), { f: AXC }],
    ['no header of the hunk of a new file', {}, both('/dev/null', 'b/n', '+x\n+y\n'), { n: 'x\ny\n' }],
    [
      'hunks in another order than in the file',
      { f: ABC },
      both('a/f', 'b/f', '@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n'),
      { f: 'A\nb\nC\n' },
    ],
    [
      'hunks with common lines between them',
      { f: ABC },
      both('a/f', 'b/f', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n'),
      { f: 'A\nb\nC\n' },
    ],
    [
      'common lines of sections',
      { f: ABC },
      '*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n b\n@@\n b\n-c\n+C\n*** End Patch',
      { f: 'A\nb\nC\n' },
    ],
    ['an indented patch', { f: ABC }, `Apply this:\n\n${both('a/f', 'b/f').replaceAll(/^(?=.)/gm, '    ')}`, { f: AXC }],
    [
      'indented sections',
      { f: 'a\n\nb\n' },
      '  *** Begin Patch\n  *** Update File: f\n  @@\n   a\n\n  -b\n  +X\n  *** End Patch\n',
      { f: 'a\n\nX\n' },
    ],
    [
      'a header of a diff in a section',
      { f: ABC },
      `*** Begin Patch\n*** Update File: f\n\n${both('a/f', 'b/f')}*** End Patch`,
      { f: AXC },
    ],
    [
      'a removed line of a section that looks like a header',
      { 'q.sql': '-- a/b\nx\n' },
      '*** Begin Patch\n*** Update File: q.sql\n--- a/b\n+-- c\n x\n*** End Patch',
      { 'q.sql': '-- c\nx\n' },
    ],
    ['a changed copy', { f: ABC }, both('f', 'f.new'), { f: AXC }],
    [
      'wrong counts and a paragraph behind',
      { f: ABC },
      `${both('a/f', 'b/f', HUNK.replace('1,3 +1,3', '1,9 +1,9'))}\nThat is all.\n`,
      { f: AXC },
    ],
    ['an empty file as a section', {}, '*** Begin Patch\n*** Add File: n\n*** End Patch', { n: '' }],
  ])('reads %s', async (_what, before, patch, after, ...[paths]) => {
    const said = await applied(before, patch, paths);
    expect({ said, files: await filesThere() }).toEqual({
      said: expect.stringMatching(/^(?:Changed|Created|Deleted|Made|Renamed) /),
      files: after,
    });
  });

  it.each<[what: string, before: Files, patch: string, message: string | RegExp]>([
    ['two files in one header', { one: ABC, two: ABC }, both('one', 'two'), /line 1 changes one to two: two files/],
    ['a hunk without a file', { f: ABC }, HUNK, /line 1 begins a hunk, and no file was named/],
    ['a merge', { f: ABC }, both('a/f', 'b/f', '@@@ -1,2 -1,2 +1,3 @@@\n  a\n++b\n'), /is of a merge/],
    ['a rename with one name', { f: ABC }, 'diff --git a/f b/g\nsimilarity index 100%\nrename from f\n', /a rename with only one name/],
    [
      'a rename to a file that is there',
      { f: ABC, g: 'x' },
      'diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n',
      'The patch creates g, which is there already.',
    ],
    ['an old mode alone', { f: ABC }, 'diff --git a/f b/f\nold mode 100755\n', /an "old mode" without a "new mode"/],
    [
      'an empty file of svn',
      { f: ABC },
      `${ofSvn('f')}Index: m\n${EQUALS}\n`,
      /no unified difference follows line 10, as for an empty file/,
    ],
    ['properties of svn alone', { f: ABC }, ofSvn('f', PROPERTY), /changes properties of f \(line 1\), which are not part of the file/],
    ['an empty file of diff -N', {}, 'diff -ruN old/n new/n\n', /no unified difference follows line 1, as for an empty file/],
    ['lines of a new file without +', {}, both('/dev/null', 'b/n', '@@ -0,0 +1,3 @@\n+a\n\n+b\n'), /empty ones as well/],
    [
      'a line end that the file has',
      { f: 'a\n' },
      both('a/f', 'b/f', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n'),
      /does not fit f/,
    ],
    [
      'an end of file amid lines',
      { f: 'a\nb\n' },
      both('a/f', 'b/f', '@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n'),
      /lines follow there/,
    ],
    [
      'sections in another order than in the file',
      { f: ABC },
      '*** Begin Patch\n*** Update File: f\n@@\n-c\n+C\n@@\n-a\n+A\n*** End Patch',
      /^Hunk 2 \(line 6 of the patch\) fits only above the hunk before it: give the hunks in the order of the lines in f; no file was changed/,
    ],
    [
      'an added line without its plus',
      { f: ABC },
      both('a/f', 'b/f', HUNK.replace('+X', 'X')),
      /line 6 of it \("X"\) is no line of a hunk/,
    ],
    [
      'changed lines behind words that look like the head of a part',
      { f: 'a\nnew Foo();\nb\n' },
      both('a/f', 'b/f', '@@ -1,3 +1,3 @@\n-a\n+A\nnew Foo();\n-b\n+B\n'),
      /line 6 of it \("new Foo\(\);"\) is no line of a hunk/,
    ],
    [
      'changed lines behind a fence without its space',
      { f: 'Use:\nold\n```bash\nnpm x\n' },
      both('a/f', 'b/f', '@@ -1,4 +1,4 @@\n Use:\n-old\n+new\n```bash\n-npm x\n+npm y\n'),
      /line 8 of it \("-npm x"\) changes something and is in no hunk/,
    ],
    [
      'changed lines behind an empty line that the counts leave out',
      { f: 'a\n\nb\n' },
      both('a/f', 'b/f', '@@ -1,1 +1,1 @@\n-a\n+A\n\n-b\n+B\n'),
      /line 7 of it \("-b"\) changes something and is in no hunk/,
    ],
    ['an added line with another sign', { f: ABC }, both('a/f', 'b/f', HUNK.replace('+X', '>X')), /line 6 of it \(">X"\)/],
    [
      'another sign behind an empty line',
      { f: 'a\n\nb\n' },
      both('a/f', 'b/f', '@@ -1,3 +1,3 @@\n-a\n\n>A\n'),
      /line 5 of it|line 6 of it/,
    ],
    ['a hunk without counts that breaks off', { f: ABC }, both('a/f', 'b/f', '@@\n a\n-b\n~X\n c\n'), /\("~X"\) is no line of a hunk/],
    [
      'a new file of --word-diff',
      {},
      `diff --git a/n b/n\nnew file mode 100644\n${both('/dev/null', 'b/n', '@@ -0,0 +1 @@\n{+x+}\n')}`,
      /\("\{\+x\+\}"\) is no line/,
    ],
    ['--word-diff', { f: ABC }, both('a/f', 'b/f', '@@ -1,3 +1,3 @@\n a\n[-b-]{+X+}\n c\n'), /is no line of a hunk/],
    ['colours', { f: ABC }, both('\u001b[1ma/f\u001b[m', 'b/f').replaceAll(/^/gm, '\u001b[1m'), /colour codes: write it without/],
    [
      'a context diff',
      { f: ABC },
      '*** f\t2024\n--- f\t2024\n***************\n*** 1,3 ****\n  a\n! b\n  c\n--- 1,3 ----\n  a\n! X\n  c\n',
      /give a unified one/,
    ],
    ['a diff without context', { f: ABC }, '2c2\n< b\n---\n> X\n', /give a unified one/],
    [
      'a file that is made and deleted',
      { f: ABC },
      '*** Begin Patch\n*** Add File: f\n+x\n*** Delete File: f\n*** End Patch',
      /f twice, and not only with hunks/,
    ],
    [
      'one of two files that does not fit',
      { f: ABC, g: 'x\n' },
      both('a/f', 'b/f') + both('a/g', 'b/g'),
      /^Hunk 1 \(line 1\) does not fit g; no file was changed/,
    ],
    [
      'a file that is deleted with more in it',
      { f: 'x\ny\n' },
      both('a/f', '/dev/null', '@@ -1 +0,0 @@\n-x\n'),
      /has more in it than the patch says/,
    ],
    [
      'a second patch behind the first',
      { f: ABC },
      '*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n*** Add File: m\n+x\n',
      /a file follows "\*\*\* End Patch"/,
    ],
    ['an unknown section', {}, '*** Begin Patch\n*** Add File: n\n+x\n*** Copy File: m\n*** End Patch', /to begin with "\+"/],
    ['a binary file of diff -r', { f: ABC }, 'diff -ru old/f new/f\nBinary files old/f and new/f differ\n', /binary/],
    [
      'a patch of more files than one may change, of which it reads no more',
      {},
      Array.from({ length: 25_000 }, (_, n) => `--- a/f${n}\n+++ b/f${n}\n@@ -1 +1 @@\n-a\n+b\n`).join(''),
      /line 251 begins one more file than the 50/,
    ],
    ['text alone', {}, 'Please change the file.\n', /expected the changes of 1 to 50 files, got 0/],
  ])('refuses %s and changes nothing', async (_what, before, patch, message) => {
    const said = await applied(before, patch);
    expect({ said, files: await filesThere() }).toEqual({ said: expect.stringMatching(message), files: before });
  });
});
