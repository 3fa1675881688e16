import { chmod, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findExecutable } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import { FileSearchTool } from '../search/file-search.tool.js';
import { textFrom } from '../testing/outputs.js';
import { testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { FileCopyTool } from './file-copy.tool.js';
import { FileEditTool } from './file-edit.tool.js';
import { FilePatchTool } from './file-patch.tool.js';
import { FileWriteTool } from './file-write.tool.js';

let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());

const bytes = (path: string) => readFile(join(workspace.root, path));
const modeOf = async (path: string) => ((await stat(join(workspace.root, path))).mode & 0o777).toString(8);

describe('a byte order mark', () => {
  const MARKED = '\uFEFFusing System;\r\nclass A {}\r\n';
  beforeEach(() => workspace.put('a.cs', MARKED));
  const edit = (args: object) => textFrom(new FileEditTool().run({ path: 'a.cs', ...args }, ctx));
  const text = async () => (await bytes('a.cs')).toString('utf8');

  it('keeps a byte order mark first when lines are inserted before the first, or the first is replaced', async () => {
    expect(await edit({ insert_text: '// x', insert_line: 0 })).toBe('Inserted 1 line(s) after line 0 of a.cs');
    expect(await text()).toBe('\uFEFF// x\r\nusing System;\r\nclass A {}\r\n');
    await edit({ old_text: '\uFEFF// x\nusing System;', new_text: '\uFEFFusing Other;' });
    expect(await text()).toBe('\uFEFFusing Other;\r\nclass A {}\r\n');
  });

  it('fits a patch to a file with a byte order mark, which stays', async () => {
    const patch = '--- a/a.cs\n+++ b/a.cs\n@@ -1,2 +1,3 @@\n+// x\n using System;\n-class A {}\n+class B {}\n';
    expect(await textFrom(new FilePatchTool().run({ patch }, ctx))).toBe('Changed a.cs');
    expect(await text()).toBe('\uFEFF// x\r\nusing System;\r\nclass B {}\r\n');
  });

  it.each([MARKED.slice(1), MARKED])('keeps one byte order mark when the whole file is written: %j', async (content) => {
    await new FileWriteTool().run({ path: 'a.cs', content }, ctx);
    expect(await text()).toBe(MARKED);
  });

  it('writes a byte order mark of the content', async () => {
    await new FileWriteTool().run({ path: 'b.cs', content: MARKED }, ctx);
    expect((await bytes('b.cs')).toString('hex', 0, 4)).toBe('efbbbf75');
  });

  it('finds the first line after a byte order mark, with and without a sandbox', async () => {
    const rg = findExecutable(['rg'], process.env['PATH']);
    const alone = join(workspace.outside, 'bin');
    await mkdir(alone);
    await symlink(rg ?? '', join(alone, 'rg'));
    await workspace.put('utf16.cs', Buffer.from('\uFEFFusing Wide;\n', 'utf16le'));
    const defaults = { path: '.', literal: false, case_sensitive: false, context: 0, output_mode: 'content' as const, max_results: 200 };
    const search = (by: ToolContext) => textFrom(new FileSearchTool().run({ ...defaults, query: '^using' }, by));
    const found = 'a.cs:1:using System;\nutf16.cs:1:using Wide;';
    expect(await search(fakeToolContext({ workspace, env: { PATH: alone } }))).toBe(found);
    expect(await search(ctx)).toBe(found);
  });
});

describe('file_write', () => {
  it('writes curly quotes unchanged', async () => {
    await new FileWriteTool().run({ path: 'a', content: '\u2019' }, ctx);
    expect((await bytes('a')).toString('hex')).toBe('e28099');
  });
});

describe('file_copy', () => {
  it.each([0o755, 0o640])('copies a file with its mode %o, also over another file', async (mode) => {
    await workspace.put('a', 'x');
    await chmod(join(workspace.root, 'a'), mode);
    await workspace.put('there', 'y');
    for (const destination of ['b', 'there']) {
      await new FileCopyTool().run({ source: 'a', destination, overwrite: true }, ctx);
      expect([destination, await modeOf(destination)]).toEqual([destination, mode.toString(8)]);
    }
  });
});
