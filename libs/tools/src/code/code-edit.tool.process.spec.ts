import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { failureOf, range, TIMES } from '../testing/language-server-answers.js';
import { ToolError } from '#tool-sdk';
import { detailsFrom, textFrom } from '../testing/outputs.js';
import { scriptedServer } from '../testing/scripted-server.js';
import { TrustingSandbox } from '../testing/test-sandbox.js';
import { type TestWorkspace, testWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { CodeEditTool } from './code-edit.tool.js';
import { LanguageServers } from './server/language-servers.js';

let workspace: TestWorkspace;
let servers: LanguageServers;
beforeEach(async () => void (workspace = await testWorkspace()));
afterEach(async () => {
  await servers.close();
  await workspace.remove();
});

/** A scripted server that answers so, from now on. */
function serve(options: Readonly<Record<string, unknown>>): void {
  servers = new LanguageServers({ servers: [scriptedServer(options)], most: 4, idleMs: 60_000, ...TIMES }, new TrustingSandbox());
}

type Edit = Parameters<CodeEditTool['run']>[0];
const EDIT = { path: 'a.ts', limit: 100, tab_size: 4, insert_spaces: true, dry_run: true };
const context = (more: object = {}) => fakeToolContext({ workspace, ...more });
const edit = (args: Partial<Edit> & Pick<Edit, 'operation'>, more?: object) =>
  new CodeEditTool(servers).run({ ...EDIT, ...args }, context(more));

describe('code_edit', () => {
  const text = (path: string) => readFile(join(workspace.root, path), 'utf8');

  it('renames in all files by code_edit, or previews the renames', async () => {
    const newText = 'duty';
    const changes = { 'ROOT/a.ts': [{ range: range(0, 0, 3), newText }], 'ROOT/b.ts': [{ range: range(0, 9, 12), newText }] };
    serve({ 'textDocument/rename': { changes } });
    await workspace.put('a.ts', 'tax();\n');
    await workspace.put('b.ts', 'function tax() {}\n');
    const rename = { operation: 'rename_symbol', row: 1, column: 1, new_name: 'duty' } as const;
    const dry = edit(rename);
    expect(await textFrom(dry)).toContain('Would change a.ts (1 edit)\nWould change b.ts (1 edit)\n--- a.ts');
    expect(await textFrom(dry)).toContain('[dry run: no file was changed; call again with dry_run false]');
    expect(await text('a.ts')).toBe('tax();\n');
    const done = edit({ ...rename, dry_run: false });
    expect(await textFrom(done)).toBe('Changed a.ts (1 edit)\nChanged b.ts (1 edit)');
    expect([await text('a.ts'), await text('b.ts')]).toEqual(['duty();\n', 'function duty() {}\n']);
    expect(await detailsFrom(done)).toMatchObject({ dryRun: false, files: 2, edits: 2, diffs: [{ path: 'a.ts' }, { path: 'b.ts' }] });
  });

  it.each([
    [
      'a file outside of the workspace',
      { changes: { 'file:///etc/passwd': [{ range: range(0, 0, 1), newText: 'x' }] } },
      /outside of the workspace/,
    ],
    ['a file that is denied', { changes: { 'ROOT/secret/a.ts': [{ range: range(0, 0, 1), newText: 'x' }] } }, /It is denied/],
    ['edits that overlap', { changes: { 'ROOT/a.ts': [0, 1].map(() => ({ range: range(0, 0, 2), newText: 'x' })) } }, /overlap; no file/],
    ['edits beyond the end', { changes: { 'ROOT/a.ts': [{ range: range(70, 0, 1), newText: 'x' }] } }, /beyond the end/],
    ['a file to delete', { documentChanges: [{ kind: 'delete', uri: 'ROOT/a.ts' }] }, /not of the protocol/],
  ])('changes nothing where a language server wants to change %s', async (_what, answer, message) => {
    const own = { range: range(0, 0, 0), newText: 'first ' };
    const changes = 'changes' in answer ? { changes: { 'ROOT/0.ts': [own], ...answer.changes } } : answer;
    serve({ 'textDocument/rename': changes });
    for (const path of ['0.ts', 'a.ts', 'secret/a.ts']) await workspace.put(path, 'tax();\n');
    const denied = {
      denialReason: (path: string, access: string) =>
        access === 'write' && path.startsWith(`${workspace.root}/secret`) ? 'It is denied.' : undefined,
      mayDenyBelow: () => true,
    };
    const rename = edit(
      { operation: 'rename_symbol', row: 1, column: 1, new_name: 'x', dry_run: false },
      { workspace: { root: workspace.root, denied } },
    );
    expect((await failureOf(rename)).message).toMatch(message);
    for (const path of ['0.ts', 'a.ts', 'secret/a.ts']) expect(await text(path)).toBe('tax();\n');
  });

  it('formats a file by a language server', async () => {
    serve({ 'textDocument/formatting': [{ range: range(0, 0, 4), newText: '' }] });
    await workspace.put('a.ts', '    x;\n');
    expect(await textFrom(edit({ operation: 'format' }))).toContain('-    x;\n+x;');
    await edit({ operation: 'format', dry_run: false });
    expect(await text('a.ts')).toBe('x;\n');
  });

  it.each([
    ['the file that is asked about', 'a.ts'],
    ['another file', 'b.ts'],
  ])('changes nothing if %s was changed while the server worked', async (_what, changed) => {
    const newText = 'duty';
    const one = [{ range: range(0, 0, 3), newText }];
    const edits = { [changed]: 'first();\ntax();\n' };
    serve({
      'textDocument/rename': { changes: { 'ROOT/a.ts': one, 'ROOT/b.ts': one } },
      'textDocument/formatting': one,
      edits: { 'textDocument/rename': edits, 'textDocument/formatting': edits },
    });
    const both = async () => [await text('a.ts'), await text('b.ts')];
    for (const request of [
      { operation: 'rename_symbol', row: 1, column: 1, new_name: newText },
      { operation: 'format', path: changed },
    ] as const) {
      for (const path of ['a.ts', 'b.ts']) await workspace.put(path, 'tax();\n');
      const failure = await failureOf(edit({ ...request, dry_run: false }));
      expect(failure.message).toBe(`${changed} was changed meanwhile; no file was changed. Try again.`);
      expect((await both()).toSorted()).toEqual(['first();\ntax();\n', 'tax();\n']);
    }
  });

  it('changes nothing if a language server edits an unwatched file', async () => {
    const edits = [{ range: range(0, 0, 3), newText: 'duty' }];
    serve({ 'textDocument/rename': { changes: { 'ROOT/a.ts': edits, 'ROOT/b.py': edits } } });
    for (const path of ['a.ts', 'b.py']) await workspace.put(path, 'tax();\n');
    const failure = await failureOf(edit({ operation: 'rename_symbol', row: 1, column: 1, new_name: 'duty', dry_run: false }));
    expect(failure.message).toBe('The renaming would change b.py, which is not watched for changes; no file was changed.');
    expect(await text('a.ts')).toBe('tax();\n');
  });

  it('keeps concurrent changes when code_edit reverts a change of several files, and names the file', async () => {
    const edits = [{ range: range(0, 0, 3), newText: 'duty' }];
    serve({ 'textDocument/rename': { changes: { 'ROOT/a.ts': edits, 'ROOT/b.ts': edits } } });
    for (const path of ['a.ts', 'b.ts']) await workspace.put(path, 'tax();\n');
    let writes = 0;
    const quota = {
      reserve: async () => {
        if ((writes += 1) < 2) return;
        await workspace.put('a.ts', 'of another call\n');
        throw new ToolError('tool_failed', 'No room is left');
      },
      invalidate: () => {},
    };
    const rename = { operation: 'rename_symbol', row: 1, column: 1, new_name: 'duty', dry_run: false } as const;
    const failure = await failureOf(edit(rename, { workspace: { root: workspace.root, quota } }));
    expect(failure.message).toMatch(/^No room is left\. The change of a\.ts could not be taken back/);
    expect([await text('a.ts'), await text('b.ts')]).toEqual(['of another call\n', 'tax();\n']);
  });

  it('rewrites code by a pattern, keeps the text of placeholders, and leaves other files unchanged', async () => {
    servers = new LanguageServers();
    await workspace.put('a.ts', 'log(a,  "b"); // log(x)\nlog(log(1));\n');
    await workspace.put('b.ts', 'const s = "log(1)";\n');
    const rewrite = {
      operation: 'pattern_rewrite',
      path: '.',
      pattern: 'log($$$ARGS)',
      replacement: 'out.write($$$ARGS)',
      language: 'typescript',
    } as const;
    const dry = await textFrom(edit(rewrite));
    expect(dry).toContain('Would change a.ts (2 edits)');
    expect(dry).toContain('+out.write(a,  "b"); // log(x)');
    expect(await text('a.ts')).toBe('log(a,  "b"); // log(x)\nlog(log(1));\n');
    expect(await textFrom(edit({ ...rewrite, dry_run: false }))).toBe(
      'Changed a.ts (2 edits)\n[1 inside of other matches left as they are: call again]',
    );
    expect(await text('a.ts')).toBe('out.write(a,  "b"); // log(x)\nout.write(log(1));\n');
    expect(await textFrom(edit({ ...rewrite, limit: 1 }))).toContain('[the first 1 matches are taken: raise limit]');
    expect(await textFrom(edit({ ...rewrite, pattern: 'nothing($X)', replacement: '$X' }))).toBe('Nothing to change');
    expect(await textFrom(edit({ ...rewrite, replacement: '$OTHER' }))).toMatch(/^Invalid replacement: \$OTHER is not in the pattern/);
    expect(await textFrom(edit({ ...rewrite, replacement: undefined }))).toBe("Missing 'replacement' for pattern_rewrite");
  });

  it('makes no file that is many times longer by a replacement that repeats a placeholder', async () => {
    servers = new LanguageServers();
    await workspace.put('a.ts', `log("${'x'.repeat(100_000)}");\n`);
    const repeated = { operation: 'pattern_rewrite', pattern: 'log($A)', replacement: '$A '.repeat(200), language: 'typescript' } as const;
    expect(await textFrom(edit({ ...repeated, dry_run: false }))).toBe(
      'a.ts would be longer than 10485760 characters; no file was changed.',
    );
  });
});
