import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ToolContext } from '#tool-sdk';
import { detailsFrom, textFrom } from '../../testing/outputs.js';
import { testWorkspace, type TestWorkspace } from '../../testing/test-workspace.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { FilePatchTool } from '../file-patch.tool.js';

const tool = new FilePatchTool();
let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());

const apply = (patch: string, paths?: string[]) => textFrom(tool.run({ patch, paths }, ctx));
const content = (path: string) => readFile(join(workspace.root, path), 'utf8');
const modeOf = async (path: string) => ((await stat(join(workspace.root, path))).mode & 0o777).toString(8);
const update = (path: string, body: string) => `*** Begin Patch\n*** Update File: ${path}\n${body}\n*** End Patch`;

describe('file_patch with parts of git that have no hunks', () => {
  const EMPTY = 'diff --git a/pkg/__init__.py b/pkg/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n';

  it('creates an empty file by a patch, alone and beside a hunk of another file', async () => {
    await workspace.put('a', 'one\n');
    expect(await apply(EMPTY, ['pkg/__init__.py'])).toBe('Created pkg/__init__.py');
    expect(await content('pkg/__init__.py')).toBe('');
    const two = `${EMPTY.replaceAll('pkg', 'other')}diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n`;
    expect(await apply(two, ['other/__init__.py', 'a'])).toBe('Created other/__init__.py\nChanged a');
    expect(await content('a')).toBe('1\n');
  });

  it('changes the mode of a file by a patch, and refuses a mode that it already has', async () => {
    await workspace.put('run.sh', 'x');
    await chmod(join(workspace.root, 'run.sh'), 0o640);
    const patch = 'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n';
    expect(await apply(patch)).toBe('Made run.sh executable');
    expect(await modeOf('run.sh')).toBe('750');
    expect(await apply(patch)).toBe('The patch changes nothing: run.sh has that mode already; no file was changed.');
    expect(await apply('diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n')).toBe('Made run.sh not executable');
    expect([await modeOf('run.sh'), await content('run.sh')]).toEqual(['640', 'x']);
  });

  it('creates a file that may be executed', async () => {
    const patch = 'diff --git a/go.sh b/go.sh\nnew file mode 100755\n--- /dev/null\n+++ b/go.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo hi\n';
    expect(await apply(patch, ['go.sh'])).toBe('Created go.sh');
    expect([await content('go.sh'), Number(await modeOf('go.sh')) % 10]).toEqual(['#!/bin/sh\necho hi\n', 5]);
  });

  it('deletes an empty file by a patch, but none with more content', async () => {
    await workspace.put('old.txt', '');
    await workspace.put('full.txt', 'x');
    const gone = (path: string) => `diff --git a/${path} b/${path}\ndeleted file mode 100644\nindex e69de29..0000000\n`;
    expect(await apply(gone('old.txt'))).toBe('Deleted old.txt');
    expect(await apply(gone('full.txt'))).toBe(
      'The patch deletes full.txt, which is not empty, and the patch has no lines of it; no file was changed.',
    );
    expect(await readdir(workspace.root)).toEqual(['full.txt']);
  });

  it('renames and copies with the mode of the file', async () => {
    await workspace.put('a', 'one\ntwo\n');
    await chmod(join(workspace.root, 'a'), 0o750);
    const copy = 'diff --git a/a b/b c\nsimilarity index 100%\ncopy from a\ncopy to b c\n';
    const rename =
      'diff --git a/a b/d/a\nsimilarity index 50%\nrename from a\nrename to d/a\n--- a/a\n+++ b/d/a\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n';
    expect(await apply(copy + rename)).toBe('Copied a to b c\nRenamed a to d/a, and changed it');
    expect((await readdir(workspace.root)).sort()).toEqual(['b c', 'd']);
    expect([await content('b c'), await content('d/a')]).toEqual(['one\ntwo\n', '1\ntwo\n']);
    expect([await modeOf('b c'), await modeOf('d/a')]).toEqual(['750', '750']);
  });

  it.each([
    ['binary', 'diff --git a/d.txt b/d.txt\nindex 1..2 100644\nBinary files a/d.txt and b/d.txt differ\n'],
    ['binary', 'diff --git a/d.txt b/d.txt\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo\n'],
    [
      'binary',
      'Index: d.txt\n===================================================================\nCannot display: file marked as a binary type.\n',
    ],
    [
      'a symbolic link',
      'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n',
    ],
    ['a symbolic link', 'diff --git a/d.txt b/d.txt\nold mode 100644\nnew mode 120000\n'],
    ['a symbolic link', 'diff --git a/d.txt b/d.txt\nindex 1..2 120000\n--- a/d.txt\n+++ b/d.txt\n@@ -1 +1 @@\n-text\n+/etc\n'],
    ['a submodule', 'diff --git a/m b/m\nnew file mode 160000\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 1\n'],
    ['changes nothing', 'diff --git a/d.txt b/d.txt\nindex 1..2 100644\n'],
    ['changes nothing', '--- a/d.txt\n+++ b/d.txt\n@@ -1 +1 @@\n text\n'],
    ['changes nothing', '--- a/d.txt\n+++ b/d.txt\n@@ -1 +1 @@\n-text\n+text\n'],
  ])('refuses a patch with %s: %j', async (why, patch) => {
    await workspace.put('d.txt', 'text\n');
    expect(await apply(patch)).toContain(why);
    expect([await readdir(workspace.root), await content('d.txt')]).toEqual([['d.txt'], 'text\n']);
  });
});

describe('file_patch with counts that are wrong or missing', () => {
  beforeEach(() => workspace.put('f', 'a\nb\nc\nd\n'));

  it.each([
    ['--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n'],
    ['--- a/f\n+++ b/f\n@@\n a\n-b\n+B\n c\n'],
    ['--- a/f\n+++ b/f\n@@ ... @@\n a\n-b\n+B\n c\n'],
    ['Here it is:\n\n```diff\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n```\n\nI replaced `b`.\n- done\n'.replace('- done\n', '')],
    ['--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n c\n d\n'],
    ['--- a/f\n+++ b/f\n@@ -7,3 +9,3 @@\n a\n-b\n+B\n c'],
  ])('applies the hunk %j where its lines fit', async (patch) => {
    expect(await apply(patch)).toBe('Changed f');
    expect(await content('f')).toBe('a\nB\nc\nd\n');
  });

  it('states the right counts if a hunk fits nowhere, and all places if it fits several', async () => {
    expect(await apply('--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n x\n-b\n+B\n')).toMatch(
      /^Hunk 1 \(line 1\) does not fit f; no file was changed\. Its header says 4 lines before and 4 after; it has 2 lines before and 2 after\./,
    );
    await workspace.put('f', 'x\ny\nx\n');
    expect(await apply('--- a/f\n+++ b/f\n@@\n-x\n+z\n')).toMatch(/^Hunk 1 \(line 3 of the patch\) fits 2 places \(lines 1, 3\)/);
    expect(await content('f')).toBe('x\ny\nx\n');
  });

  it('refuses a hunk that continues after a line without a mark', async () => {
    expect(await apply('--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b\n+B\nc\n-d\n+D\n')).toMatch(
      /^Invalid patch: line 7 of it \("c"\) is no line of a hunk/,
    );
    expect(await content('f')).toBe('a\nb\nc\nd\n');
  });
});

describe('file_patch with sections', () => {
  it('adds, updates, deletes and moves files in one step', async () => {
    await workspace.put('a', 'one\ntwo\nthree\n');
    await workspace.put('gone', 'x\n');
    await workspace.put('b', 'x\ny\n');
    const patch =
      '*** Begin Patch\n*** Add File: new/hello.txt\n+hi\n+\n+there\n*** Update File: a\n@@ one\n-two\n+2\n*** Delete File: gone\n*** Update File: b\n*** Move to: c\n@@\n x\n-y\n+Y\n*** End Patch';
    expect(await apply(patch)).toBe('Created new/hello.txt\nChanged a\nDeleted gone\nRenamed b to c, and changed it');
    expect((await readdir(workspace.root)).sort()).toEqual(['a', 'c', 'new']);
    expect([await content('new/hello.txt'), await content('a'), await content('c')]).toEqual([
      'hi\n\nthere\n',
      'one\n2\nthree\n',
      'x\nY\n',
    ]);
  });

  it('finds the place below several context lines, and at the end of the file', async () => {
    await workspace.put('a.py', 'class A:\n  def f(self):\n    return 1\n\nclass B:\n  def f(self):\n    return 1\n');
    expect(await apply(update('a.py', '@@ class B:\n@@   def f(self):\n-    return 1\n+    return 2'))).toBe('Changed a.py');
    expect(await content('a.py')).toBe('class A:\n  def f(self):\n    return 1\n\nclass B:\n  def f(self):\n    return 2\n');
    await workspace.put('a.py', 'x\ny\nx\n');
    expect(await apply(update('a.py', '@@\n-x\n+z\n*** End of File'))).toBe('Changed a.py');
    expect(await content('a.py')).toBe('x\ny\nz\n');
    expect(await apply(update('a.py', '-y\n+2'))).toBe('Changed a.py');
    expect(await content('a.py')).toBe('x\n2\nz\n');
  });

  it('refuses a place that is not the only one', async () => {
    await workspace.put('a', 'def f():\n  1\ndef f():\n  1\n');
    expect(await apply(update('a', '@@ def f():\n-  1\n+  2'))).toMatch(/fits 2 places \(lines 2, 4\)/);
  });

  it.each([
    ['*** Begin Patch\n*** Add File: a\n+x', /no line "\*\*\* End Patch"/],
    ['*** Begin Patch\n*** Add File: a\nx\n*** End Patch', /expected line 3 to begin with "\+"/],
    [update('f', ''), /changes nothing/],
    [update('f', '@@\n+x'), /has no lines that tell its place/],
    ['*** Begin Patch\n*** Add File: f\n+x\n*** End Patch', /^The patch creates f, which is there already\.$/],
    ['*** Begin Patch\n*** Delete File: none\n*** End Patch', /^File not found: none/],
    ['*** Begin Patch\n*** Delete File: f\n-x\n*** End Patch', /expected nothing below/],
    [update('f', '*** Move to: ../g'), /^Path not allowed: \.\.\/g/],
    [update('../f', '@@\n-a\n+b'), /^Path not allowed: \.\.\/f/],
  ])('refuses sections of a patch: %j', async (patch, message) => {
    await workspace.put('f', 'a\nb\n');
    expect(await apply(patch)).toMatch(message);
    expect([await readdir(workspace.root), await content('f')]).toEqual([['f'], 'a\nb\n']);
  });
});

describe('file_patch', () => {
  it('passes the paths in a patch to policy, both of a rename', () => {
    const patch = `${update('a', '*** Move to: b').replace('\n*** End Patch', '')}\n*** Add File: ./c\n+x\n*** End Patch`;
    expect(tool.complete({ patch })).toEqual({ patch, paths: ['a', 'b', 'c'] });
    expect(() => tool.check({ patch, paths: ['b', 'c'] })).toThrow('Invalid patch: it changes a, which paths does not name.');
  });

  it('keeps a byte order mark, Windows line ends and a missing line end', async () => {
    await workspace.put('a', '\uFEFFone\r\ntwo\r\nthree');
    expect(await apply('--- a/a\n+++ b/a\n@@ -1,3 +1,4 @@\n-one\n+1\n two\n-three\n+3\n+4\n')).toBe('Changed a');
    expect(await content('a')).toBe('\uFEFF1\r\ntwo\r\n3\r\n4');
    await workspace.put('b', 'one\ntwo\n');
    expect(await apply('--- a/b\r\n+++ b/b\r\n@@ -1,2 +1,2 @@\r\n-one\r\n+1\r\n two\r\n')).toBe('Changed b');
    expect(await content('b')).toBe('1\ntwo\n');
  });

  it('names the line of the file that differs invisibly', async () => {
    await workspace.put('a', 'first\ntwo\u00a0words\n');
    expect(await apply('--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n first\n-two words\n+2\n')).toContain('line 2 has U+00A0 at column 4');
  });

  it('restores contents and modes of all files when the last one fails', async () => {
    await workspace.put('a', 'one\n');
    await workspace.put('gone.sh', 'x\n');
    await workspace.put('moved.sh', 'm\n');
    for (const path of ['gone.sh', 'moved.sh']) await chmod(join(workspace.root, path), 0o750);
    await workspace.put('there/x', 'x');
    const patch =
      '*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Delete File: gone.sh\n*** Update File: moved.sh\n*** Move to: to.sh\n*** Add File: there/x/y\n+t\n*** End Patch';
    expect(await apply(patch)).toMatch(/there\/x/);
    expect((await readdir(workspace.root)).sort()).toEqual(['a', 'gone.sh', 'moved.sh', 'there']);
    expect([await content('a'), await content('gone.sh')]).toEqual(['one\n', 'x\n']);
    expect([await modeOf('gone.sh'), await modeOf('moved.sh')]).toEqual(['750', '750']);
  });

  it('shows the diff of each file', async () => {
    await workspace.put('a', 'one\n');
    const details = await detailsFrom(tool.run({ patch: update('a', '@@\n-one\n+1') }, ctx));
    expect(details).toMatchObject({ files: 1, diffs: [{ path: 'a', added: 1, removed: 1 }] });
  });
});
