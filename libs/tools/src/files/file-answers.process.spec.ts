import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ToolContext } from '#tool-sdk';
import { detailsFrom as details, textFrom as text } from '../testing/outputs.js';
import { testWorkspace, type TestWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { FileSearchTool } from '../search/file-search.tool.js';
import { GlobTool } from '../search/glob.tool.js';
import { FileWriteTool } from './file-write.tool.js';

let workspace: TestWorkspace;
let ctx: ToolContext;
beforeEach(async () => {
  workspace = await testWorkspace();
  ctx = fakeToolContext({ workspace });
});
afterEach(() => workspace.remove());

describe('file_write', () => {
  const tool = new FileWriteTool();

  it('shows all lines of a new file as added, of a long one the first', async () => {
    const written = (path: string, text: string) => details(tool.run({ path, content: text }, ctx));
    const hunk = { oldStart: 0, oldLines: 0, newStart: 1 };
    expect(await written('new', 'one\n\ntwo\n')).toMatchObject({
      diff: { path: 'new', added: 3, removed: 0, hunks: [{ ...hunk, newLines: 3, lines: ['+one', '+', '+two'] }], truncated: false },
    });
    expect(await written('open', 'one')).toMatchObject({
      diff: { added: 1, hunks: [{ ...hunk, newLines: 1, lines: ['+one', '\\ No newline at end of file'] }] },
    });
    expect(await written('empty', '')).toMatchObject({ diff: { added: 0, removed: 0, hunks: [], truncated: false } });
    const long = await written('long', `${'x'.repeat(99)}\n`.repeat(3_000));
    expect(long).toMatchObject({ diff: { added: 3_000, hunks: [{ ...hunk, newLines: 240 }], truncated: true } });
    expect(JSON.stringify(long).length).toBeLessThan(26_000);
  });
});

describe('glob', () => {
  const tool = new GlobTool();
  const glob = (pattern: string): Promise<string> => text(tool.run({ pattern, path: '.', limit: 200, max_depth: 30 }, ctx));

  it('reports that files matching a glob are excluded by .gitignore if it finds no others', async () => {
    await workspace.put('.gitignore', '*.log\n/out/\n');
    await workspace.put('out/deep/x.js', '');
    await workspace.put('a.log', '');
    await workspace.put('a.txt', '');
    const excluded = 'Files that match are excluded by .gitignore: file_list shows them.';
    expect(await glob('*.js')).toBe(`No files found for pattern: *.js\n${excluded}`);
    expect(await glob('*.log')).toBe(`No files found for pattern: *.log\n${excluded}`);
    expect(await glob('*.rs')).toBe('No files found for pattern: *.rs');
    expect(await glob('a.*')).toBe('a.txt');
    const denied = { denialReason: (path: string) => (path.endsWith('.log') ? 'no' : undefined), mayDenyBelow: () => true };
    const denying = fakeToolContext({ workspace: { root: workspace.root, denied } });
    expect(await text(tool.run({ pattern: '*.log', path: '.', limit: 200, max_depth: 30 }, denying))).toBe(
      'No files found for pattern: *.log',
    );
  });

  it('reports that nothing is found for a glob that leads elsewhere', async () => {
    await workspace.put('src/a.ts', '');
    for (const pattern of ['../*', 'src/../../*.ts', '{../*,x}']) expect(await glob(pattern)).toMatch(/\nThe pattern leaves the folder/);
    expect(await glob('/etc/*')).toMatch(/^No files found for pattern: \/etc\/\*\nA "\/" at the beginning of pattern is the folder/);
    expect(await glob('/src/*')).toBe('src/a.ts');
    expect(await glob('..x')).toBe('No files found for pattern: ..x');
  });
});

describe('file_search', () => {
  const tool = new FileSearchTool();
  const defaults = { path: '.', literal: false, case_sensitive: false, context: 0, output_mode: 'content', max_results: 200 } as const;
  const search = (args: Partial<Parameters<FileSearchTool['run']>[0]> & { query: string }): Promise<string> =>
    text(tool.run({ ...defaults, ...args }, ctx));

  it('reports skipped files if file_search finds nothing', async () => {
    await workspace.put('.gitignore', '*.log\n');
    await workspace.put('a.ts', 'one');
    const skipped = 'No matches\nFiles that .gitignore excludes were not searched. To search one, name it as path.';
    expect(await search({ query: 'zzz' })).toBe('No matches');
    await workspace.put('src/a.log', 'zzz');
    for (const output_mode of ['content', 'files_with_matches', 'count'] as const)
      expect(await search({ query: 'zzz', output_mode })).toBe(skipped);
    expect(await search({ query: 'zzz', include: '*.log' })).toBe(skipped);
    expect(await search({ query: 'zzz', include: '*.ts' })).toBe('No matches');
    expect(await search({ query: 'zzz', max_depth: 1 })).toBe('No matches');
    expect(await search({ query: 'zzz', path: 'a.ts' })).toBe('No matches');
    expect(await search({ query: 'zzz', path: 'src/a.log' })).toBe('src/a.log:1:zzz');
    expect(await search({ query: 'zzz', include: '../*.log' })).toMatch(/^No matches\nThe include leaves the folder that is searched/);
  });
});
