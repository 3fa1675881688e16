import { link, mkdir, open as openFile, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ToolContext, ToolError } from '#tool-sdk';
import { detailsFrom, textFrom } from '../../testing/outputs.js';
import { SECRET, testWorkspace, type TestWorkspace } from '../../testing/test-workspace.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { FileCopyTool } from '../file-copy.tool.js';
import { FileDeleteTool } from '../file-delete.tool.js';
import { FileEditTool } from '../file-edit.tool.js';
import { FilePatchTool } from '../file-patch.tool.js';
import { FileWriteTool } from '../file-write.tool.js';
import { NotebookEditTool } from '../notebook-edit.tool.js';
import { fileDiff } from './file-diff.js';

let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());

const content = (path: string) => readFile(join(workspace.root, path), 'utf8');
/** Context that denies all paths ending in `secret`. */
const denying = () =>
  fakeToolContext({
    workspace: {
      root: workspace.root,
      denied: { denialReason: (path) => (path.endsWith('secret') ? 'It is denied.' : undefined), mayDenyBelow: () => true },
    },
  });

describe('file_edit', () => {
  const tool = new FileEditTool();
  const edit = (args: Omit<Parameters<FileEditTool['run']>[0], 'path'>) => textFrom(tool.run({ path: 'a', ...args }, ctx));

  it('inserts lines by file_edit after a line and at the end, in the line ends of the file', async () => {
    await workspace.put('a', 'one\r\ntwo');
    expect(await edit({ insert_text: 'x\ny', insert_line: 1 })).toBe('Inserted 2 line(s) after line 1 of a');
    expect(await edit({ insert_text: 'end' })).toBe('Inserted 1 line(s) at the end of a');
    expect(await content('a')).toBe('one\r\nx\r\ny\r\ntwo\r\nend\r\n');
    expect(await edit({ insert_text: 'x', insert_line: 6 })).toBe('insert_line 6 is past the end: a has 5 lines.');
  });

  it('replaces the first of several matches by file_edit on request', async () => {
    await workspace.put('a', 'x y x');
    expect(await edit({ old_text: 'x', new_text: 'z', first_match: true })).toBe('Replaced 1 line(s) with 1 line(s) in a');
    expect(await content('a')).toBe('z y x');
  });

  it('applies several edits or none, and names the failed one', async () => {
    await workspace.put('a', 'one\ntwo\n');
    const edits = [
      { old_text: 'one', new_text: '1' },
      { old_text: '1\ntwo', new_text: '12' },
    ];
    expect(await edit({ edits: [...edits, { old_text: 'three', new_text: '' }] })).toMatch(/^Edit 3: old_text not found in a\./);
    expect(await content('a')).toBe('one\ntwo\n');
    expect(await edit({ edits })).toBe('Made 2 edit(s) in a');
    expect(await content('a')).toBe('12\n');
  });

  it.each([
    [{}, "Missing 'old_text' parameter: give old_text and new_text, or insert_text."],
    [{ old_text: 'x' }, "Missing 'new_text' parameter."],
    [{ insert_line: 1 }, "Missing 'insert_text' parameter."],
    [{ new_text: 'x', insert_line: 1 }, 'insert_line goes with insert_text: give the lines to insert as insert_text, not as new_text.'],
    [
      { edits: [{ old_text: 'x', new_text: 'y', insert_line: 1 }] },
      'Edit 1: insert_line goes with insert_text: leave it out, or give the lines to insert as insert_text, without old_text and new_text.',
    ],
    [{ old_text: 'x', new_text: 'y', insert_text: 'z' }, 'Give either old_text and new_text, or insert_text, not both.'],
    [{ edits: [{ old_text: 'x' }] }, "Edit 1: Missing 'new_text' parameter."],
    [{ old_text: 'x', edits: [{ old_text: 'x', new_text: 'y' }] }, 'Give either edits or one edit, not both.'],
  ])('refuses the file_edit %j', async (args, message) => expect(await edit(args)).toBe(message));

  it('shows no denied file under another name in file_edit', async () => {
    await workspace.put('secret', SECRET);
    await link(join(workspace.root, 'secret'), join(workspace.root, 'a'));
    const edited = textFrom(tool.run({ path: 'a', old_text: 'S', new_text: 'T', first_match: true }, denying()));
    expect(await edited).toMatch(/another name of a file that is denied/);
    const written = await detailsFrom(new FileWriteTool().run({ path: 'a', content: 'x' }, denying()));
    expect(JSON.stringify(written)).not.toContain(SECRET);
  });
});

describe('a diff', () => {
  it('omits a diff of texts that are too large or too different, and cuts a long one', () => {
    expect(fileDiff('a', 'x'.repeat(600_000), 'y'.repeat(600_000), ctx)).toBeUndefined();
    const lines = (mark: string, count: number) =>
      Array.from({ length: count }, (_item, index) => `${mark}${index} ${'.'.repeat(60)}\n`).join('');
    expect(fileDiff('a', lines('a', 3_000), lines('b', 3_000), ctx)).toBeUndefined();
    const apart = (mark: string) => Array.from({ length: 200 }, (_item, index) => `${mark}\n${lines(`${index}-`, 10)}`).join('');
    const long = fileDiff('a', apart('x'), apart('y'), ctx);
    expect(long).toMatchObject({ added: 200, removed: 200, truncated: true });
    expect(JSON.stringify(long).length).toBeLessThan(40_000);
  });
});

describe('file_delete', () => {
  const tool = new FileDeleteTool();
  const remove = (path: string, by = ctx) => textFrom(tool.run({ path }, by));

  it('deletes a link but never its target, also inside of a folder', async () => {
    await symlink(workspace.outside, join(workspace.root, 'out'));
    await workspace.put('folder/a', 'a');
    await symlink(workspace.outside, join(workspace.root, 'folder', 'out'));
    expect(await remove('out')).toBe('Deleted file out');
    expect(await remove('folder')).toBe('Deleted directory folder (3 entries, itself included)');
    expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
  });

  it('deletes folders three thousand deep, and counts all that was in them', async () => {
    let open = await openFile(workspace.root);
    for (let depth = 0; depth < 3_000; depth++) {
      const below = `/proc/self/fd/${open.fd}/deep`;
      await mkdir(below);
      const next = await openFile(below);
      await open.close();
      open = next;
    }
    await writeFile(`/proc/self/fd/${open.fd}/last`, '');
    await open.close();
    expect(await remove('deep')).toBe('Deleted directory deep (3001 entries, itself included)');
    expect(await readdir(workspace.root)).toEqual([]);
  });

  it('reports that a deleted folder was empty', async () => {
    await mkdir(join(workspace.root, 'empty'));
    expect(await remove('empty')).toBe('Deleted directory empty (it was empty)');
  });

  it.each([
    ['.', /it is a root folder itself/],
    ['../outside', /^Path not allowed/],
    ['way/secret.txt', /^Path not allowed/],
    ['none', /^File not found: none\. Use file_list/],
  ])('refuses to delete %s', async (path, message) => {
    await symlink(workspace.outside, join(workspace.root, 'way'));
    expect(await remove(path)).toMatch(message);
    expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
  });

  it('refuses to delete a denied file, and a folder with one in it', async () => {
    await workspace.put('box/deep/secret', 'x');
    await workspace.put('box/a', 'x');
    expect(await remove('box/deep/secret', denying())).toMatch(/^Path not allowed: box\/deep\/secret/);
    expect(await remove('box', denying())).toBe('Path not allowed: box. The folder has files in it that are denied to this call.');
    expect((await readdir(join(workspace.root, 'box'))).sort()).toEqual(['a', 'deep']);
  });
});

describe('file_patch', () => {
  const tool = new FilePatchTool();
  const apply = (patch: string, paths: string[]) => textFrom(tool.run({ patch, paths }, ctx));

  it('finds hunks with wrong line numbers', async () => {
    await workspace.put('a', '0\n0\none\ntwo\n');
    expect(await apply('--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n', ['./a'])).toBe('Changed a');
    expect(await content('a')).toBe('0\n0\none\n2\n');
  });

  it('shows the lines most similar to a hunk that does not fit', async () => {
    await workspace.put('a', 'if (x) {\n    return  1;\n}\n');
    const failed = await apply('--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-  return 1;\n+  return 2;\n }\n', ['a']);
    expect(failed).toBe('Hunk 1 (line 1) does not fit a; no file was changed.\nDid you mean:\n   2 |     return  1;\n   3 | }');
  });

  it('states what must match if no lines are similar to a hunk', async () => {
    await workspace.put('a', 'one\n');
    const failed = await apply('--- a/a\n+++ b/a\n@@ -1 +1 @@\n-something else\n+x\n', ['a']);
    expect(failed).toBe(
      'Hunk 1 (line 1) does not fit a; no file was changed. Read the file first: context and removed lines must match exactly, including spaces and line breaks.',
    );
  });

  it('reverts everything if file_patch cannot write a file', async () => {
    await workspace.put('a', 'one\n');
    await workspace.put('gone', 'x\n');
    await workspace.put('there', 'there\n');
    const patch = `--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+m\n--- /dev/null\n+++ b/there\n@@ -0,0 +1 @@\n+t\n`;
    expect(await apply(patch, ['a', 'gone', 'made', 'there'])).toBe('The patch creates there, which is there already.');
    expect((await readdir(workspace.root)).sort()).toEqual(['a', 'gone', 'there']);
    expect([await content('a'), await content('gone'), await content('there')]).toEqual(['one\n', 'x\n', 'there\n']);
  });

  it.each([
    ['nothing', ['a'], /expected the changes of 1 to 50 files, got 0/],
    ['--- a/a\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n', ['a'], /it renames a to b/],
    ['--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n', ['a', 'c'], /paths names c, which it does not change/],
    ['--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-1\n+2\n', ['../x'], /^Path not allowed/],
  ])('refuses the file_patch %j', async (patch, paths, message) => expect(await apply(patch, paths)).toMatch(message));
});

describe('notebook_edit', () => {
  const tool = new NotebookEditTool();
  const cells = [
    { cell_type: 'code', id: 'one', metadata: { x: 1 }, source: 'a', outputs: [{ output_type: 'stream', text: 'o' }], execution_count: 3 },
    { cell_type: 'markdown', metadata: {}, source: ['# T\n', 'b'] },
  ];
  const edit = (args: object) => textFrom(tool.run({ path: 'n.ipynb', edit_mode: 'replace', ...args }, ctx));
  beforeEach(() => workspace.put('n.ipynb', JSON.stringify({ cells, metadata: { kernel: 'k' }, nbformat: 4, nbformat_minor: 4 })));

  it('replaces a cell of a notebook without its outputs and keeps the rest', async () => {
    expect(await edit({ cell_id: 'one', new_source: 'x\ny' })).toBe('Replaced cell one (0) of n.ipynb');
    expect(JSON.parse(await content('n.ipynb'))).toEqual({
      cells: [{ cell_type: 'code', id: 'one', metadata: { x: 1 }, source: ['x\n', 'y'], outputs: [], execution_count: null }, cells[1]],
      metadata: { kernel: 'k' },
      nbformat: 4,
      nbformat_minor: 4,
    });
    expect(await edit({ cell_id: 'one', cell_type: 'markdown', new_source: 'x' })).toMatch(/^Replaced/);
    expect(JSON.parse(await content('n.ipynb')).cells[0]).toEqual({ cell_type: 'markdown', id: 'one', metadata: { x: 1 }, source: ['x'] });
  });

  it('deletes and appends cells of a notebook, and refers to those without ids by position', async () => {
    expect(await edit({ edit_mode: 'insert', new_source: 'z' })).toBe('Inserted cell cell-2 (2) of n.ipynb');
    expect(await edit({ edit_mode: 'delete', cell_id: 'cell-1' })).toBe('Deleted cell cell-1 (1) of n.ipynb');
    expect(JSON.parse(await content('n.ipynb')).cells.map((cell: { source: unknown }) => cell.source)).toEqual(['a', ['z']]);
  });

  it.each([
    [{ path: 'a.txt', new_source: 'x' }, 'File must be a Jupyter notebook (.ipynb file).'],
    [{}, 'new_source is required for insert and replace edits'],
    [{ cell_id: 'zero', new_source: 'x' }, 'Cell not found: zero. Its cells are one, cell-1.'],
    [{ cell_id: 'oen', new_source: 'x' }, 'Cell not found: oen. Did you mean one?'],
    [{ cell_id: 'ones', new_source: 'x' }, 'Cell not found: ones. Did you mean one?'],
  ])('refuses the notebook_edit %j', async (args, message) => expect(await edit(args)).toBe(message));
});

describe('file_copy', () => {
  it('copies between the workspace and shared folders within their permissions', async () => {
    const locks = join(workspace.outside, '..', 'locks');
    const root = (access: 'read' | 'write') =>
      fakeToolContext({ workspace: { root: workspace.root, roots: [{ path: workspace.outside, access, locks }] } });
    const copy = (source: string, destination: string, by: ToolContext) =>
      textFrom(new FileCopyTool().run({ source, destination, overwrite: false }, by));
    const outside = join(workspace.outside, 'secret.txt');
    expect(await copy(outside, 'in/a', root('read'))).toBe(`Copied ${SECRET.length} bytes to in/a`);
    expect(await content('in/a')).toBe(SECRET);
    expect(await copy('in/a', join(workspace.outside, 'b'), root('read'))).toContain('is read-only');
    expect(await copy('in/a', join(workspace.outside, 'b'), root('write'))).toContain('Copied');
    expect(await copy('in/a', 'in/a', ctx)).toBe('in/a is the source itself.');
    expect(await copy(outside, 'in/c', ctx)).toMatch(/^Path not allowed/);
    expect(await copy('in', 'in/c', ctx)).toContain('it is a directory');
  });

  it('leaves no files of a file_copy cancelled before it began', async () => {
    await workspace.put('a', 'a');
    const signal = AbortSignal.abort(new ToolError('cancelled', 'Cancelled'));
    expect(
      await textFrom(new FileCopyTool().run({ source: 'a', destination: 'b', overwrite: false }, fakeToolContext({ workspace, signal }))),
    ).toBe('Cancelled');
    expect(await readdir(workspace.root)).toEqual(['a']);
  });
});
