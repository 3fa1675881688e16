import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NoSandbox } from '#sandbox';
import { ToolError } from '#tool-sdk';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { at, failureOf, range, TIMES } from '../testing/language-server-answers.js';
import { detailsFrom, textFrom } from '../testing/outputs.js';
import { scriptedServer } from '../testing/scripted-server.js';
import { newMarker, processesWith } from '../testing/shell-runs.js';
import { TrustingSandbox } from '../testing/test-sandbox.js';
import { type TestWorkspace, testWorkspace } from '../testing/test-workspace.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { CodeEditTool } from './code-edit.tool.js';
import { CodeTool } from './code.tool.js';
import { LanguageServerTool } from './language-server.tool.js';
import { languageServersFrom, type LanguageServerSettings } from './server/language-servers.config.js';
import { LanguageServer } from './server/language-server.js';
import { LanguageServers, languageServersStatus } from './server/language-servers.js';

let workspace: TestWorkspace;
let servers: LanguageServers;
beforeEach(async () => void (workspace = await testWorkspace()));
afterEach(async () => {
  jest.restoreAllMocks();
  await servers.close();
  await workspace.remove();
});

/** A scripted server that answers so, from now on. */
function serve(options: Readonly<Record<string, unknown>>, more: Partial<LanguageServerSettings> = {}): void {
  servers = new LanguageServers({ servers: [scriptedServer(options)], most: 4, idleMs: 60_000, ...TIMES, ...more }, new TrustingSandbox());
}

type Server = Parameters<LanguageServerTool['run']>[0];
type Code = Parameters<CodeTool['run']>[0];
type Edit = Parameters<CodeEditTool['run']>[0];
const CODE = { path: '.', exact_match: false, include_source: false, top_level_only: false, limit: 50, offset: 0 };
const EDIT = { path: 'a.ts', limit: 100, tab_size: 4, insert_spaces: true, dry_run: true };
const context = (more: object = {}) => fakeToolContext({ workspace, ...more });
const ask = (args: Partial<Server> & Pick<Server, 'operation'>, more?: object) =>
  new LanguageServerTool(servers).run({ path: 'a.ts', limit: 50, ...args }, context(more));
const hover = (args: Partial<Server> = {}, more?: object) => textFrom(ask({ operation: 'get_hover', row: 1, column: 1, ...args }, more));
const code = (args: Partial<Code> & Pick<Code, 'operation'>, more?: object) =>
  new CodeTool(servers).run({ ...CODE, ...args }, context(more));
const edit = (args: Partial<Edit> & Pick<Edit, 'operation'>, more?: object) =>
  new CodeEditTool(servers).run({ ...EDIT, ...args }, context(more));

describe('a language server', () => {
  it('answers where a name is defined and used, with rows and columns from 1', async () => {
    serve({
      'textDocument/definition': [{ targetUri: 'ROOT/b.ts', targetRange: range(0, 0, 20), targetSelectionRange: range(1, 9, 12) }],
      'textDocument/references': [at('b.ts', 1, 9), at('a.ts', 0, 0), at('a.ts', 0, 0)],
    });
    await workspace.put('a.ts', 'tax();\n');
    await workspace.put('b.ts', '// x\nfunction tax() {}\n');
    const place = { path: 'a.ts', row: 1, column: 2 };
    const defined = code({ operation: 'goto_definition', ...place });
    expect(await textFrom(defined)).toBe('b.ts:2:10 | function tax() {}');
    expect(await detailsFrom(defined)).toEqual({ definitions: [{ path: 'b.ts', row: 2, column: 10 }], truncated: false });
    expect(await textFrom(code({ operation: 'find_references', ...place }))).toBe(
      'a.ts:1:1 | tax();\nb.ts:2:10 (definition) | function tax() {}',
    );
    expect(await textFrom(code({ operation: 'find_references', ...place, limit: 1, offset: 1 }))).toBe(
      'b.ts:2:10 (definition) | function tax() {}',
    );
    expect(await textFrom(code({ operation: 'find_references', ...place, limit: 1 }))).toBe(
      'a.ts:1:1 | tax();\n[1 to 1 of 2 are shown: raise limit or offset]',
    );
  });

  it('needs no language server for a position: the name at it is searched for', async () => {
    servers = new LanguageServers();
    await workspace.put('a.ts', 'const x = tax(1);\n');
    await workspace.put('b.ts', 'function tax() {}\n');
    expect(await textFrom(code({ operation: 'goto_definition', path: 'a.ts', row: 1, column: 13 }))).toBe(
      'b.ts:1 function tax | function tax() {}',
    );
    expect(await textFrom(code({ operation: 'find_references', path: 'a.ts', row: 1, column: 11 }))).toContain('a.ts:1:11 | const x');
    expect(await textFrom(code({ operation: 'goto_definition', path: 'a.ts', row: 1, column: 9 }))).toMatch(
      /^No name stands at a\.ts:1:9\./,
    );
    expect(await textFrom(code({ operation: 'goto_definition', path: 'a.ts', row: 9, column: 1 }))).toMatch(
      /^row 9 is beyond the end of a\.ts/,
    );
  });

  it('fails for an unconfigured language server, with the setting to use', async () => {
    servers = new LanguageServers({ servers: [scriptedServer({})], most: 4, idleMs: 60_000, ...TIMES }, new TrustingSandbox());
    await workspace.put('a.py', 'x');
    const failure = await failureOf(ask({ operation: 'get_hover', path: 'a.py', row: 1, column: 1 }));
    expect(failure).toMatchObject({ code: 'unavailable', options: { retryable: false } });
    expect(failure.message).toMatch(
      /^not configured: no language server is configured for a\.py\. [^]*LANGUAGE_SERVERS[^]*scripted for \.ts/,
    );
    for (const operation of ['rename_symbol', 'format'] as const)
      expect((await failureOf(edit({ operation, path: 'a.py', row: 1, column: 1, new_name: 'y' }))).message).toContain('not configured');
    servers = new LanguageServers();
    expect((await failureOf(ask({ operation: 'initialize_workspace', path: '.' }))).message).toContain('not configured');
  });

  it('shows types, fitting completions, and the available servers', async () => {
    const items = ['toFixed', 'toString', 'valueOf'].map((label) => ({ label, kind: 2, detail: `${label}(): x` }));
    serve({
      'textDocument/hover': { contents: { kind: 'markdown', value: '**tax**: number' } },
      'textDocument/completion': { isIncomplete: false, items },
    });
    await workspace.put('a.ts', 'tax.to\n');
    expect(await hover()).toBe('**tax**: number');
    expect(await textFrom(ask({ operation: 'get_completions', row: 1, column: 7 }))).toBe(
      'toFixed method toFixed(): x\ntoString method toString(): x',
    );
    const first = ask({ operation: 'get_completions', row: 1, column: 5, limit: 1 });
    expect(await textFrom(first)).toBe('toFixed method toFixed(): x\n[the first 1 of 3 are shown: write more of the name]');
    expect(await textFrom(ask({ operation: 'initialize_workspace', path: '.' }))).toBe('scripted: running, 1 file');
  });

  it('reports errors of a file on its own, or on request', async () => {
    const fault = { range: range(0, 6, 7), severity: 1, code: 2322, source: 'ts', message: 'Type is wrong' };
    await workspace.put('a.ts', 'const a = 1;\n');
    serve({ reports: [fault] });
    const shown = 'a.ts:1:7 error 2322 | Type is wrong';
    for (const _time of [1, 2]) expect(await textFrom(ask({ operation: 'get_diagnostics' }))).toBe(shown);
    await servers.close();
    serve({ capabilities: { diagnosticProvider: {} }, 'textDocument/diagnostic': { kind: 'full', items: [fault] } });
    expect(await textFrom(ask({ operation: 'get_diagnostics' }))).toBe(shown);
    await servers.close();
    serve({ reports: [] });
    expect(await textFrom(ask({ operation: 'get_diagnostics' }))).toBe('No errors or warnings in a.ts');
  });

  it.each([
    ['after a pause', {}],
    ['after the last report once more, of the version before', { outdated: true }],
  ])('reports the present errors of a file if a language server sends them %s', async (_when, more) => {
    const fault = { range: range(0, 0, 5), message: 'Type is wrong' };
    // Longer than the pauses by which a server is taken to be done.
    serve({ reports: [fault], reportsWhere: 'wrong', reportsAfterMs: 10 * 5 * TIMES.quietMs, ...more });
    const answers: string[] = [];
    for (const text of ['wrong\n', 'right\n', 'wrong\n']) {
      await workspace.put('a.ts', text);
      answers.push(await textFrom(ask({ operation: 'get_diagnostics' })));
    }
    const shown = 'a.ts:1:1 error | Type is wrong';
    expect(answers).toEqual([shown, 'No errors or warnings in a.ts', shown]);
  });

  it('starts no language server without isolation, which its worker reports beforehand', async () => {
    const marker = newMarker();
    const settings = { servers: [scriptedServer({}, marker)], most: 4, idleMs: 60_000, ...TIMES };
    servers = new LanguageServers(settings, new NoSandbox());
    await workspace.put('a.ts', 'x\n');
    const failure = await failureOf(ask({ operation: 'get_diagnostics' }));
    const why = expect.stringContaining('not isolated on this worker: set SANDBOX=bubblewrap');
    expect(failure).toMatchObject({ code: 'unavailable', message: why, options: { retryable: false } });
    expect(processesWith(marker)).toEqual([]);
    const host = { backend: 'host', ok: true, isolation: 'none' } as const;
    expect(languageServersStatus(settings, host)).toEqual({ ok: false, reason: why });
    const none = { backend: 'none', ok: false, isolation: 'none', reason: 'switched off' } as const;
    expect(languageServersStatus(settings, none)).toEqual({ ok: false, reason: 'commands do not run on this worker: switched off' });
    expect(languageServersStatus(settings, { ...host, isolation: 'namespaces' })).toEqual({ ok: true });
  });

  it('informs a language server of changes by commands and tools between two questions', async () => {
    serve({ 'textDocument/hover': { contents: 'HEARD' } });
    await workspace.put('a.ts', 'one\n');
    await workspace.put('b.ts', 'b\n');
    expect(await hover()).toBe('initialized\ntextDocument/didOpen a.ts typescript 1 one~');
    await workspace.put('a.ts', 'two!\n');
    await workspace.put('c.ts', 'c\n');
    await workspace.put('b.ts', 'changed\n');
    expect((await hover({ path: 'b.ts' })).split('\n').slice(2)).toEqual([
      'workspace/didChangeWatchedFiles 2 a.ts,2 b.ts,1 c.ts',
      'textDocument/didChange a.ts 2 two!~',
      'textDocument/didOpen b.ts typescript 1 changed~',
    ]);
    await writeFile(join(workspace.root, 'b.ts'), Buffer.from([0, 255]));
    expect((await hover()).split('\n').slice(5)).toEqual(['workspace/didChangeWatchedFiles 2 b.ts', 'textDocument/didClose b.ts']);
  });

  it('runs one language server for all calls in a workspace, and ends it with all it started', async () => {
    const marker = newMarker();
    servers = new LanguageServers(
      { servers: [scriptedServer({ 'textDocument/hover': { contents: 'x' } }, marker)], most: 4, idleMs: 60_000, ...TIMES },
      new TrustingSandbox(),
    );
    await workspace.put('a.ts', 'x\n');
    expect(await Promise.all([hover(), hover(), hover()])).toEqual(['x', 'x', 'x']);
    expect(processesWith(marker)).toHaveLength(1);
    await servers.close();
    expect(processesWith(marker)).toEqual([]);
  });
});

it('charges a call the CPU time of its language server', async () => {
  serve({ 'textDocument/hover': { contents: 'x' } });
  await workspace.put('a.ts', 'x\n');
  jest.spyOn(LanguageServer.prototype, 'takeCpuMs').mockReturnValueOnce(20).mockReturnValueOnce(5);
  const charged: unknown[] = [];
  const onCpuTime = (ms: number | undefined) => void charged.push(ms);
  for (const _time of [1, 2]) expect(await hover({}, { onCpuTime })).toBe('x');
  expect(charged).toEqual([20, 5]);
});

/** No pause before a new start is over. */
const holdClock = () => void jest.spyOn(performance, 'now').mockReturnValue(performance.now());

describe('a hostile language server', () => {
  it.each([
    ['a message without end', 'giant', /was ended: it sent a message of more than 4 MiB/],
    ['no message at all', 'noHeader', /was ended: it sent what is no message of the protocol/],
    ['what is no JSON', 'notJson', /was ended: it sent what is no message of the protocol/],
    ['a header without length', 'noLength', /was ended: it sent what is no message of the protocol/],
    ['a cancellation of nothing', 'badCancel', /was ended: it sent what is no message of the protocol/],
    ['a flood of notifications', 'flood', /was ended: it sent more than \d+ messages a second/],
    ['an exit', 'exit', /was ended: it (ended with exit code 7|closed its output)/],
    ['an error', 'refuses', /^The language server scripted refused: no such symbol$/],
  ])('loses only the call with a language server that answers with %s', async (_what, trick, message) => {
    serve({ 'textDocument/hover': trick });
    await workspace.put('a.ts', 'x\n');
    const failure = await failureOf(ask({ operation: 'get_hover', row: 1, column: 1 }));
    expect(failure.message).toMatch(message);
    expect(['unavailable', 'tool_failed']).toContain(failure.code);
  });

  it('ignores answers of a language server to unknown questions', async () => {
    serve({ 'textDocument/hover': 'wrongId' });
    await workspace.put('a.ts', 'x\n');
    expect(await hover()).toBe('right');
  });

  it.each([
    ['answers', { 'textDocument/hover': 'never' }],
    ['reads', { deaf: true }],
  ])('reports a language server that never %s as late, and ends it if that continues', async (_what, options) => {
    serve(options, { requestMs: 200 });
    await workspace.put('a.ts', `x\n${'y'.repeat(900_000)}\n`);
    const late = async () => (await failureOf(ask({ operation: 'get_hover', row: 1, column: 1 }))).message;
    holdClock();
    for (const _time of [1, 2, 3]) expect(await late()).toMatch(/did not answer within 0\.2 s/);
    expect(await late()).toMatch(/has ended by itself and is not started again before 1 s/);
  });

  it('starts a language server that died again after a pause', async () => {
    serve({ initialize: 'exit' });
    await workspace.put('a.ts', 'x\n');
    holdClock();
    expect(await hover()).toMatch(/was ended: it (ended with exit code 7|closed its output)/);
    const failure = await failureOf(ask({ operation: 'get_hover', row: 1, column: 1 }));
    expect(failure).toMatchObject({ code: 'unavailable', options: { retryable: true, retryAfterMs: expect.any(Number) } });
  });

  it('blocks a flooding language server in all workspaces of its tenant, longer each time, but not for other tenants', async () => {
    const other = await testWorkspace();
    try {
      serve({ 'textDocument/hover': 'flood', 'textDocument/completion': { isIncomplete: false, items: [] } });
      for (const place of [workspace, other]) await place.put('a.ts', 'x\n');
      let now = performance.now();
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      const answers = () => ask({ operation: 'get_completions', row: 1, column: 1 });
      await answers();
      expect(await hover()).toMatch(/more than \d+ messages a second/);
      expect(await hover({}, { workspace: other })).toMatch(/not started again before 1 s/);
      expect(await hover({}, { workspace: other, tenantId: 'other' })).toMatch(/more than \d+ messages a second/);
      now += 1_000;
      await answers();
      expect(await hover()).toMatch(/more than \d+ messages a second/);
      expect(await hover()).toMatch(/not started again before 2 s/);
    } finally {
      await other.remove();
    }
  });

  it('ends a cancelled call of a language server at once', async () => {
    serve({ 'textDocument/hover': 'never' });
    await workspace.put('a.ts', 'x\n');
    await ask({ operation: 'initialize_workspace', path: '.' });
    const cancel = new AbortController();
    const waiting = hover({}, { signal: cancel.signal });
    setImmediate(() => cancel.abort(new ToolError('cancelled', 'Cancelled by Ann')));
    expect(await waiting).toBe('Cancelled by Ann');
  });

  it.each([
    ['null instead of a list', 5],
    ['places without range', [{ uri: 'ROOT/a.ts' }]],
    ['rows below nothing', [at('a.ts', -1, 0)]],
    ['places that are no places', ['x']],
  ])('returns a typed error if a language server answers with %s', async (_what, answer) => {
    serve({ 'textDocument/definition': answer });
    await workspace.put('a.ts', 'x\n');
    const failure = await failureOf(code({ operation: 'goto_definition', path: 'a.ts', row: 1, column: 1 }));
    expect(failure.message).toBe('The language server scripted gave an answer that is not of the protocol.');
  });

  it('hides results of a language server outside of the workspace or denied to the call', async () => {
    const outside = `file://${workspace.outside}/secret.txt`;
    const places = [
      at('a.ts', 0, 0),
      at(outside, 0, 0),
      at('../../outside/secret.txt', 0, 0),
      at('http://x/a.ts', 0, 0),
      at('file:///etc/passwd', 0, 0),
    ];
    serve({ 'textDocument/definition': [...places, at('secret/a.ts', 0, 0), at('gone.ts', 0, 0), at('a.ts', 99, 0)] });
    await workspace.put('a.ts', 'x\n');
    await workspace.put('secret/a.ts', 'hidden\n');
    const denied = {
      denialReason: (path: string) => (path.startsWith(`${workspace.root}/secret`) ? 'It is denied.' : undefined),
      mayDenyBelow: () => true,
    };
    const careful = { workspace: { root: workspace.root, denied } };
    expect(await textFrom(code({ operation: 'goto_definition', path: 'a.ts', row: 1, column: 1 }, careful))).toBe(
      'a.ts:1:1 | x\n[7 places left out: outside of the workspace, or not readable]',
    );
    expect(await hover({ path: 'secret/a.ts' }, careful)).toMatch(/It is denied/);
    expect(await hover({ path: '../outside/secret.txt.ts' })).toMatch(/^Path not allowed/);
  });

  it.each<[string, Partial<Server>, RegExp]>([
    ['a row of 0', { row: 0 }, /^row must be >= 1 \(got 0\)$/],
    ['a column below 1', { column: -3 }, /^column must be >= 1 \(got -3\)$/],
    ['no column', { column: undefined }, /^Missing 'column'/],
    ['a row that is not there', { row: 5 }, /^row 5 is beyond the end of a\.ts, which has 2 rows$/],
    ['no file', { path: '.' }, /^Missing 'path' for get_hover$/],
  ])('refuses to ask a language server about a place with %s', async (_what, args, message) => {
    serve({});
    await workspace.put('a.ts', 'x\n');
    expect(await hover(args)).toMatch(message);
  });

  it('evicts no language server that a call has just found', async () => {
    /** Sandbox in which both calls choose a server at the same time. */
    const sandbox = new (class extends TrustingSandbox {
      private both = () => {};
      private readonly met = new Promise<void>((resolve) => (this.both = resolve));
      private probes = 0;
      override async probe() {
        if ((this.probes += 1) === 2) this.both();
        return this.met.then(() => super.probe());
      }
    })();
    const server = scriptedServer({ 'textDocument/hover': { contents: 'x' } });
    servers = new LanguageServers({ servers: [server], most: 2, idleMs: 60_000, ...TIMES }, sandbox);
    const other = await testWorkspace();
    for (const { put } of [workspace, other]) await put('a.ts', 'x\n');
    const full = 'All language servers of this worker are in use. Try again later.';
    expect((await Promise.all([hover(), hover({}, { workspace: { root: other.root } })])).toSorted()).toEqual([full, 'x']);
    await other.remove();
  });

  it('ends a language server that a call uses after that call when its session is deleted', async () => {
    serve({ 'textDocument/completion': 'never', edits: { 'textDocument/completion': { asked: '' } } });
    await workspace.put('a.ts', 'x\n');
    const stop = jest.spyOn(LanguageServer.prototype, 'stop');
    const cancel = new AbortController();
    const busy = textFrom(ask({ operation: 'get_completions', row: 1, column: 1 }, { sessionId: 's1', signal: cancel.signal }));
    await eventually(() => existsSync(join(workspace.root, 'asked')));
    const { tenantId } = fakeToolContext();
    for (const other of [
      { tenantId: 'other', sessionId: 's1' },
      { tenantId, sessionId: 's2' },
    ])
      await servers.endOf(other);
    await servers.endOf({ tenantId, sessionId: 's1' });
    expect(stop).not.toHaveBeenCalled();
    cancel.abort(new ToolError('cancelled', 'enough'));
    await busy;
    expect(stop).toHaveBeenCalledWith('its session was deleted');
  });

  it('starts language servers within their limit', async () => {
    serve({ 'textDocument/hover': 'never', edits: { 'textDocument/hover': { asked: '' } } }, { most: 2 });
    await workspace.put('a.ts', 'x\n');
    const cancel = new AbortController();
    const busy = hover({}, { signal: cancel.signal });
    await eventually(() => existsSync(join(workspace.root, 'asked')));
    const other = await testWorkspace();
    await other.put('a.ts', 'x\n');
    const failure = await failureOf(ask({ operation: 'get_hover', row: 1, column: 1 }, { workspace: { root: other.root } }));
    expect(failure).toMatchObject({ code: 'unavailable', message: 'All language servers of this worker are in use. Try again later.' });
    cancel.abort(new ToolError('cancelled', 'enough'));
    await busy;
    expect(await textFrom(ask({ operation: 'initialize_workspace', path: '.' }, { workspace: { root: other.root } }))).toBe(
      'scripted: running, 1 file',
    );
    await other.remove();
  });
});

describe('LANGUAGE_SERVERS', () => {
  it.each([
    ['{', /^LANGUAGE_SERVERS: expected JSON such as/],
    ['{"a":{"command":[],"extensions":["a"]}}', /command/],
    ['{"a":{"command":["x"],"extensions":["*.a"]}}', /extensions/],
    ['{"a":{"command":["x"],"extensions":["a"]},"b":{"command":["x"],"extensions":["A"]}}', /a and b both name the extension a/],
  ])('refuses the LANGUAGE_SERVERS %s with the fault', (text, message) => {
    expect(() => languageServersFrom({ LANGUAGE_SERVERS: text })).toThrow(message);
  });
});
