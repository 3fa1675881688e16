import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ToolContext } from '#tool-sdk';
import { FileSearchTool } from '../search/file-search.tool.js';
import { GlobTool } from '../search/glob.tool.js';
import { textFrom } from '../testing/outputs.js';
import { testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { FileCopyTool } from './file-copy.tool.js';
import { FileDeleteTool } from './file-delete.tool.js';
import { FileEditTool } from './file-edit.tool.js';
import { FileListTool } from './file-list.tool.js';
import { FilePatchTool } from './file-patch.tool.js';
import { FileReadTool } from './file-read.tool.js';
import { NotebookEditTool } from './notebook-edit.tool.js';

let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({
    workspace: {
      root: workspace.root,
      denied: { denialReason: (path) => (path.endsWith('.env') ? 'It is denied.' : undefined), mayDenyBelow: () => true },
    },
  });
  for (const path of ['src/main.ts', 'src/.env', 'src/notes.ipynb']) await workspace.put(path, 'one\n');
});
afterEach(() => workspace.remove());

const PATCH = '--- a/src/mian.ts\n+++ b/src/mian.ts\n@@ -1 +1 @@\n-one\n+two\n';
const read = new FileReadTool();
const list = new FileListTool();
const LOOK = 'Use file_list or glob to see what is there.';

describe('a path that is not there', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    ['file_read', () => read.run({ path: 'src/mian.ts' }, ctx), `src/mian.ts. ${LOOK} Did you mean src/main.ts?`],
    [
      'file_read, a folder',
      () => read.run({ operations: [{ mode: 'directory', path: 'scr' }] }, ctx),
      'scr. Check the path with file_list. Did you mean src?',
    ],
    [
      'file_edit',
      () => new FileEditTool().run({ path: 'src/main.tsx', old_text: 'one', new_text: '1' }, ctx),
      'src/main.tsx. Use file_write to create it. Did you mean src/main.ts?',
    ],
    [
      'file_edit in a missing folder',
      () => new FileEditTool().run({ path: 'scr/main.ts', old_text: 'one', new_text: '1' }, ctx),
      `scr/main.ts. ${LOOK} Did you mean src/main.ts?`,
    ],
    ['file_list', () => list.run({ path: 'SRC', max_depth: 1 }, ctx), 'SRC. Check the path with file_list. Did you mean src?'],
    ['file_list with a pattern', () => list.run({ path: 'scr', pattern: '*', max_depth: 1 }, ctx), `scr. ${LOOK} Did you mean src?`],
    ['file_delete', () => new FileDeleteTool().run({ path: 'src/main' }, ctx), `src/main. ${LOOK} Did you mean src/main.ts?`],
    [
      'file_patch',
      () => new FilePatchTool().run({ patch: PATCH, paths: ['src/mian.ts'] }, ctx),
      `src/mian.ts. ${LOOK} Did you mean src/main.ts?`,
    ],
    [
      'file_copy',
      () => new FileCopyTool().run({ source: 'src/mian.ts', destination: 'a', overwrite: false }, ctx),
      `src/mian.ts. ${LOOK} Did you mean src/main.ts?`,
    ],
    [
      'notebook_edit',
      () => new NotebookEditTool().run({ path: 'src/note.ipynb', edit_mode: 'delete', cell_id: 'c' }, ctx),
      'src/note.ipynb. Use file_write to create it. Did you mean src/notes.ipynb?',
    ],
    ['glob', () => new GlobTool().run({ pattern: '*', path: 'scr' } as never, ctx), `scr. ${LOOK} Did you mean src?`],
    [
      'file_search',
      () => new FileSearchTool().run({ query: 'one', path: 'src/mian.ts' } as never, ctx),
      `src/mian.ts. ${LOOK} Did you mean src/main.ts?`,
    ],
    ['a denied file near', () => read.run({ path: 'src/env' }, ctx), `src/env. ${LOOK}`],
    ['nothing near', () => read.run({ path: 'lib/other.ts' }, ctx), `lib/other.ts. ${LOOK}`],
  ])('answers a path that is not there with near ones: %s', async (_tool, run, message) => {
    expect(await textFrom(run() as never)).toBe(`File not found: ${message}`);
  });
});
