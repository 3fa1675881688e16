import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readdirSync } from 'node:fs';
import { open, utimes } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem, ToolDescriptor, WorkerStatus } from '#contracts';
import { withPathLock } from '#sandbox';
import { IMAGES } from '../../libs/tools/src/testing/images.js';
import { pdfOf } from '../../libs/tools/src/testing/pdf.js';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const PNG = IMAGES['image/png'].toString('base64');

/** An agent that may not touch `secret`. */
const CAREFUL = { policy: { paths: { trusted: [{ tools: ['*'], allowed: [], denied: ['secret', 'box/secret'] }] } } };

/** Search engines, one of which is down, and an API. */
const queries: string[] = [];
const site = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  const json = (value: unknown, status = 200, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  if (pathname === '/up/search') {
    queries.push(searchParams.get('q') ?? '');
    const hit = (url: string) => ({ title: `T of ${url}`, url, content: 'a snippet' });
    return void json({ results: [hit('https://good.example/a'), hit('https://sub.bad.example/b'), hit('https://good.example/c')] });
  }
  if (pathname === '/echo') {
    const { authorization } = request.headers;
    return void json(
      { method: request.method, body: Buffer.concat(chunks).toString(), token: authorization === 'Bearer of-the-api' },
      200,
      {
        'set-cookie': 'session=abc',
      },
    );
  }
  if (pathname === '/inside') return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  if (pathname === '/page') {
    const paragraphs = Array.from({ length: 60 }, (_unused, index) => `<p>paragraph ${index}${index === 30 ? ' with a needle' : ''}</p>`);
    return void response.writeHead(200, { 'content-type': 'text/html' }).end(paragraphs.join(''));
  }
  return void json({ error: 'down' }, 500);
}

let host: string;
let toolyard: TestCluster;
let agent: Agent;
beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  toolyard = await startTestCluster({
    workers: 3,
    config: { agents: { careful: CAREFUL, web: { policy: { egress: { privateHosts: [host] } } } } },
    env: {
      EGRESS_ALLOW_HOSTS: host,
      BROWSER: 'off',
      // Two workers have no room for 20 calls that write.
      WORKER_CONCURRENCY: 'read=64,write=7,shell=8,net=32,agent=16',
      SEARXNG_URLS: `http://${host}/down,http://${host}/up`,
      HTTP_SECRETS: JSON.stringify({ SITE_AUTHORIZATION: { hosts: [host], tenants: ['default'] } }),
      SITE_AUTHORIZATION: 'Bearer of-the-api',
    },
  });
  agent = toolyard.agent;
});
afterAll(async () => {
  await toolyard.close();
  site.close();
});

const run = (tool: string, args: unknown, sessionId: string, more: object = {}) => agent.run(tool, args, { sessionId, ...more });
const asCareful = { agentId: 'careful' };
const write = async (path: string, content: string, sessionId: string) =>
  expect(await run('file_write', { path, content }, sessionId)).toMatchObject({ ok: true });

describe('file_read', () => {
  it('shows lines with their numbers below a header [TB-23]', async () => {
    await write('two', 'a\nb\n', 'lines');
    expect(textOf(await run('read_file', { path: 'two', line_numbers: true }, 'lines'))).toBe('[2 lines]\n   1 | a\n   2 | b');
  });

  it('reads lines, a folder and an image in one call, one item each in their order [CC-34, TB-24]', async () => {
    await write('a.txt', 'one\ntwo\n', 'batch');
    await run('shell', { command: `base64 -d <<< ${PNG} > p.png` }, 'batch');
    const operations = [
      { path: 'a.txt', offset: 2 },
      { mode: 'directory', path: '.' },
      { mode: 'image', path: 'p.png' },
    ];
    const { result } = await run('fs_read', { operations }, 'batch');
    expect(result?.content).toEqual([
      { type: 'text', text: '[Lines 2-2 of 2]\ntwo\n' },
      { type: 'text', text: expect.stringMatching(/ a\.txt$/m) },
      { type: 'image', data: PNG, mimeType: 'image/png' },
    ]);
    const failed = await run('fs_read', { operations: [{ path: 'x' }, ...operations, { path: 'y' }] }, 'batch');
    expect(failed).toMatchObject({ outcome: 'failed', error: { message: expect.stringMatching(/not found: x\..*, .*not found: y\./) } });
  });

  it('denies file_read as a whole if one of its paths is denied', async () => {
    await write('free', 'free', 'careful');
    const operations = [{ path: 'free' }, { path: 'secret/x' }];
    expect(await run('file_read', { operations }, 'careful', asCareful)).toMatchObject({ outcome: 'denied', attempt: 0 });
    expect(await run('file_read', { operations: operations.slice(0, 1) }, 'careful', asCareful)).toMatchObject({ ok: true });
  });

  it('lists a folder without entering rarely needed subfolders [TB-25]', async () => {
    await run('shell', { command: 'mkdir -p node_modules/m src/deep; touch src/a node_modules/m/b' }, 'listing');
    const list = async (max_depth: number) =>
      textOf(await run('read', { operations: [{ mode: 'directory', path: '.', max_depth }] }, 'listing'));
    const names = (text: string) =>
      text
        .split('\n')
        .map((line) => line.slice(line.lastIndexOf(' ') + 1))
        .sort();
    expect(names(await list(1))).toEqual(['node_modules/', 'src/']);
    expect(names(await list(3))).toEqual(['node_modules/', 'src/', 'src/a', 'src/deep/']);
  });

  it('reads the text of PDF files', async () => {
    await write('a.pdf', pdfOf('Hello PDF'), 'pdf');
    expect(textOf(await run('file_read', { path: 'a.pdf' }, 'pdf'))).toBe('[Page 1 of 1]\nHello PDF\n');
  });
});

describe('file_edit', () => {
  it('inserts at the end, after a line end that the file may lack [TB-34]', async () => {
    await write('a', 'one', 'insert');
    expect(textOf(await run('edit_file', { path: 'a', insert_text: 'two' }, 'insert'))).toBe('Inserted 1 line(s) at the end of a');
    await run('edit_file', { path: 'a', insertLine: 0, insert_text: 'zero\n' }, 'insert');
    expect(textOf(await run('file_read', { path: 'a' }, 'insert'))).toBe('zero\none\ntwo\n');
  });

  it('returns the change of file_edit as a diff beside the text for the model', async () => {
    await write('a', 'one\ntwo\nthree\n', 'diff');
    const { result } = await run('edit_file', { path: 'a', edits: [{ old_text: 'two', new_text: '2' }, { insert_text: 'four' }] }, 'diff');
    const hunk = { oldStart: 1, oldLines: 3, newStart: 1, newLines: 4, lines: [' one', '-two', '+2', ' three', '+four'] };
    expect(result?.details).toEqual({ path: 'a', edits: 2, diff: { path: 'a', added: 2, removed: 1, hunks: [hunk], truncated: false } });
  });

  it('applies all of 20 concurrent edits of distinct lines by three workers [TB-41]', async () => {
    const lines = (mark: string) => Array.from({ length: 20 }, (_unused, n) => `${mark}${n};`).join('\n');
    await write('a', lines('old'), 'parallel');
    const ids = await whileLocked('parallel', 'a', async () => {
      const edit = (n: number) => ({ path: 'a', old_text: `old${n};`, new_text: `new${n};` });
      const calls = await Promise.all(
        Array.from({ length: 20 }, (_unused, n) => agent.accepted('file_edit', edit(n), { sessionId: 'parallel' })),
      );
      const workers = await eventually(async () => {
        const events = (await Promise.all(calls.map(({ id }) => agent.events(id)))).flat();
        const started = events.flatMap((event) => (event.type === 'call.start' ? [event.data.worker] : []));
        return started.length === 20 ? new Set(started) : undefined;
      }, 'every edit to have begun');
      expect(workers.size).toBe(3);
      return calls.map(({ id }) => id);
    });
    const edits = await Promise.all(ids.map((id) => agent.ended(id)));
    expect(edits.filter(({ ok }) => ok)).toHaveLength(20);
    expect(textOf(await run('file_read', { path: 'a' }, 'parallel'))).toBe(lines('new'));
  });

  /** Does `work` while another process is busy with a file of a session, so that changes of it begin and wait. */
  async function whileLocked<T>(sessionId: string, name: string, work: () => Promise<T>): Promise<T> {
    const sessions = join(toolyard.workspaceRoot, 'default', 'sessions');
    const root = join(sessions, sessionId);
    const locks = join(sessions, '~locks');
    const handle = await open(root);
    // An old lock is taken for one of a killed worker.
    const touch = (lock: string) => utimes(join(locks, lock), new Date(), new Date()).catch(() => {});
    const alive = setInterval(() => void Promise.all(readdirSync(locks).map(touch)), 1_000);
    try {
      return await withPathLock({ root }, { handle, names: [], location: root }, name, new AbortController().signal, work);
    } finally {
      clearInterval(alive);
      await handle.close();
    }
  }
});

describe('file_delete', () => {
  it('deletes files and whole folders, and never the root [TB-38]', async () => {
    await write('tree/deep/a', 'a', 'delete');
    await write('tree/b', 'b', 'delete');
    expect(textOf(await run('file_delete', { path: 'tree/b' }, 'delete'))).toBe('Deleted file tree/b');
    expect(textOf(await run('file_delete', { path: 'tree' }, 'delete'))).toBe('Deleted directory tree (3 entries, itself included)');
    expect(textOf(await run('file_list', {}, 'delete'))).toBe('no entries found');
    const refused = await run('file_delete', { path: '.' }, 'delete');
    expect(refused).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied' } });
    expect(await run('file_delete', { path: 'tree' }, 'delete')).toMatchObject({ error: { code: 'tool_failed' } });
  });

  it('leaves a folder unchanged if something in it is denied to the call', async () => {
    await write('box/secret/key', 'x', 'careful');
    await write('box/a', 'a', 'careful');
    expect(await run('file_delete', { path: 'box' }, 'careful', asCareful)).toMatchObject({ error: { code: 'policy_denied' } });
    expect(textOf(await run('file_list', { path: 'box', max_depth: 2 }, 'careful'))).toBe('a\nsecret/\nsecret/key');
  });
});

describe('file_patch', () => {
  const patch =
    '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- /dev/null\n+++ b/new/b\n@@ -0,0 +1 @@\n+made\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n';

  it('changes, creates and deletes files in one step, or does nothing', async () => {
    await write('a', 'one\nother\n', 'patch');
    await write('c', 'gone\n', 'patch');
    const apply = (paths: string[]) => run('apply_patch', { patch, paths }, 'patch');
    expect((await apply(['a', 'new/b', 'c'])).error?.message).toMatch(/^Hunk 1 \(line 1\) does not fit a; no file was changed\./);
    expect(textOf(await run('file_list', {}, 'patch'))).toBe('a\nc');
    await write('a', 'one\ntwo\n', 'patch');
    expect((await apply(['a', 'c'])).error?.message).toBe('Invalid patch: it changes new/b, which paths does not name.');
    expect(textOf(await apply(['a', 'new/b', 'c']))).toBe('Changed a\nCreated new/b\nDeleted c');
    expect(textOf(await run('file_list', { max_depth: 2 }, 'patch'))).toBe('a\nnew/\nnew/b');
    expect(textOf(await run('file_read', { path: 'a' }, 'patch'))).toBe('one\n2\n');
  });

  it('denies file_patch if one of its files is denied', async () => {
    await write('a', 'one\n', 'careful');
    const other = '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b/secret/b\n@@ -0,0 +1 @@\n+made\n';
    expect(await run('file_patch', { patch: other, paths: ['a', 'secret/b'] }, 'careful', asCareful)).toMatchObject({ outcome: 'denied' });
    expect(await run('file_patch', { patch: other, paths: ['a'] }, 'careful', asCareful)).toMatchObject({ outcome: 'failed' });
  });
});

describe('a path that is not there', () => {
  it('answers a missing path with near existing ones that the call may read', async () => {
    for (const path of ['src/main.ts', 'src/deep/notes.md']) await write(path, 'one\n', 'near');
    const failed = async (tool: string, args: object) => (await run(tool, args, 'near', asCareful)).error?.message;
    expect(await failed('file_read', { path: 'src/mian.ts' })).toMatch(/^File not found: src\/mian\.ts\. .* Did you mean src\/main\.ts\?$/);
    expect(await failed('file_edit', { path: 'scr/main.ts', old_text: 'one', new_text: '1' })).toMatch(/Did you mean src\/main\.ts\?$/);
    expect(await failed('glob', { pattern: '*', path: 'src/Deep' })).toMatch(/Did you mean src\/deep\?$/);
    await run('shell', { command: 'mkdir -p secret box/secret seed; touch secret/key box/secret/key; ln -s secret secrte' }, 'near');
    const list = await run('file_list', { path: 'sed' }, 'near', asCareful);
    expect(list.error?.message).toMatch(/Did you mean seed\?$/);
    for (const path of ['secre', 'secrets/key', 'box/secrt', 'bxo/secret/key'])
      expect(await failed('file_read', { path })).toBe(`File not found: ${path}. Use file_list or glob to see what is there.`);
    expect((await run('file_read', { path: 'secrets/key' }, 'near')).error?.message).toMatch(/Did you mean secret\/key, secrte\/key\?$/);
  });
});

describe('notebook_edit', () => {
  it('inserts a cell behind another and leaves a notebook of valid JSON [TB-39]', async () => {
    const cells = ['c1', 'c2'].map((id) => ({ cell_type: 'code', id, metadata: {}, outputs: [], execution_count: 1, source: ['x'] }));
    await write('n.ipynb', JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }), 'notebook');
    const insert = { notebook_path: 'n.ipynb', edit_mode: 'insert', cell_id: 'c1', cell_type: 'markdown', new_source: '# T\nx' };
    expect(textOf(await run('NotebookEdit', insert, 'notebook'))).toMatch(/^Inserted cell [0-9a-f]{8} \(1\) of n\.ipynb$/);
    const raw = JSON.parse(textOf(await run('file_read', { path: 'n.ipynb', raw: true }, 'notebook')));
    expect(raw).toMatchObject({ cells: [{ id: 'c1' }, { cell_type: 'markdown', source: ['# T\n', 'x'] }, { id: 'c2' }], nbformat: 4 });
    const wrong = await run('NotebookEdit', { ...insert, cell_id: 'c3' }, 'notebook');
    expect(wrong.error?.message).toBe('Cell not found: c3. Did you mean c1, c2?');
  });
});

describe('file_copy', () => {
  it('copies a file within the read and write permissions of the call', async () => {
    await write('a', 'é', 'copy');
    expect(textOf(await run('file_copy', { source: 'a', destination: 'b/c' }, 'copy'))).toBe('Copied 2 bytes to b/c');
    expect((await run('file_copy', { source: 'a', destination: 'b/c' }, 'copy')).error?.message).toContain('Set overwrite');
    await write('free', 'x', 'careful');
    for (const args of [
      { source: 'secret/x', destination: 'free' },
      { source: 'free', destination: 'secret/x' },
    ])
      expect(await run('file_copy', args, 'careful', asCareful)).toMatchObject({ outcome: 'denied' });
  });
});

describe('file_search and glob', () => {
  it('shows the neighbours of a match, and at most the requested number of matches', async () => {
    await write('a.ts', 'one\ntwo\nthree\ntwo\n', 'grep');
    const search = async (args: object) => run('grep_search', { pattern: 'two', ...args }, 'grep');
    const first = await search({ context: 1, head_limit: 1, type: 'ts' });
    expect(textOf(first)).toBe('a.ts-1-one\na.ts:2:two\na.ts-3-three\n... (showing the first 1 matching lines, there are more)');
    expect(first.result?.details).toEqual({ results: 1, truncated: true });
    expect(textOf(await search({ '-B': 1, offset: 1 }))).toBe('a.ts-3-three\na.ts:4:two');
    expect(textOf(await search({ pattern: 'one.two', multiline: true }))).toBe('a.ts:1:one\na.ts:2:two');
    for (const type of ['nothing', '--version', '-V']) expect((await search({ type })).error).toMatchObject({ code: 'invalid_arguments' });
  });

  it('shows 200 matches, or 200 files, and the total [TB-53, TB-55]', async () => {
    await run('shell', { command: 'for i in $(seq 201); do echo hit > f$i; done' }, 'many');
    const found = textOf(await run('file_search', { query: 'hit', path: '.' }, 'many')).split('\n');
    expect(found.filter((line) => /^f\d+:1:hit$/.test(line))).toHaveLength(200);
    const { result } = await run('glob', { pattern: '*' }, 'many');
    expect(result?.details).toMatchObject({ totalFiles: 201, truncated: true });
    expect(result?.details?.['files']).toHaveLength(200);
  });

  it('shows 100 files of glob_search by default [TB-50]', async () => {
    await run('shell', { command: 'touch $(seq 101)' }, 'hundred');
    const { result } = await run('glob_search', { pattern: '*', limit: 100 }, 'hundred');
    expect(result?.details).toMatchObject({ totalFiles: 101, truncated: true });
    expect(result?.details?.['files']).toHaveLength(100);
  });
});

describe('code', () => {
  it('finds a class by its syntax, shows its outline, and omits files denied to the agent [TB-130]', async () => {
    await write('src/app.ts', '// class Shop\nexport class Shop {\n  open() {}\n}\n', 'code');
    const found = await run('code', { operation: 'search_symbols', symbol_name: 'Shop' }, 'code');
    expect(textOf(found)).toBe('src/app.ts:2 class Shop | export class Shop {');
    expect(found.result?.details).toMatchObject({ symbols: [{ path: 'src/app.ts', kind: 'class', row: 2, column: 14, lastRow: 4 }] });
    const outline = await run('code', { operation: 'get_document_symbols', file_path: 'src/app.ts' }, 'code');
    expect(textOf(outline)).toBe('2-4 class Shop\n  3 method open');
    const empty = await run('code', { operation: 'search_symbols', symbol_name: '' }, 'code');
    expect(empty.error).toMatchObject({ code: 'invalid_arguments', message: 'symbol_name cannot be empty' });
    await write('secret/app.ts', 'export class Shopkeeper {}\n', 'code');
    const careful = await run('code', { operation: 'search_symbols', symbol_name: 'Shop' }, 'code', asCareful);
    expect(textOf(careful)).not.toContain('Shopkeeper');
    const denied = await run('code', { operation: 'get_document_symbols', path: 'secret/app.ts' }, 'code', asCareful);
    expect(denied).toMatchObject({ outcome: 'denied', attempt: 0 });
  });

  it('finds code by a pattern in the files of a language, and previews a rewrite [TB-130, TB-132]', async () => {
    await write('a.py', 'print("a")\nprint(x, y)\n# print(1)\n', 'form');
    const found = await run('code', { operation: 'pattern_search', pattern: 'print($$$ARGS)', language: 'python' }, 'form');
    const rewrite = { operation: 'pattern_rewrite', pattern: 'print($$$ARGS)', replacement: 'log($$$ARGS)', language: 'python' };
    const dry = await run('code_edit', rewrite, 'form');
    expect(dry.result?.details).toMatchObject({ dryRun: true, files: 1, edits: 2 });
    expect(textOf(dry)).toContain('Would change a.py (2 edits)');
    expect(textOf(found)).toBe('a.py:1 | print("a") ($ARGS="a")\na.py:2 | print(x, y) ($ARGS=x, y)');
  });
});

describe('browser', () => {
  it('shows the browser as unavailable with the reason in status, catalog and calls if the workers lack it [AV-12, AV-16]', async () => {
    const { workers } = (await agent.get<{ workers: WorkerStatus[] }>('/v1/workers')).body;
    for (const { parts } of workers) expect(parts?.browser).toEqual({ ok: false, reason: 'BROWSER switches it off on this worker' });
    const { tools } = (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools?q=browser')).body;
    const reason = 'browser is not available: no worker of the pool net has the browser (BROWSER switches it off on this worker)';
    expect(tools.find(({ name }) => name === 'browser')?.available).toEqual({ ok: false, reason });
    const refused = await agent.request<Problem>('POST', '/v1/calls', { tool: 'browser', arguments: { action: 'get_url' } });
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable', detail: expect.stringContaining(reason) } });
  });
});

describe('http_request', () => {
  const request = (path: string, args: object = {}) =>
    run('http_request', { url: `http://${host}${path}`, ...args }, 'http', { agentId: 'web' });

  it('sends method, headers and body by http_request, secrets by their names, and shows no cookies', async () => {
    const sent = await request('/echo', { method: 'POST', body: 'hello', headers: { authorization: { secret: 'SITE_AUTHORIZATION' } } });
    expect(textOf(sent)).toMatch(/Status: 200 OK\nResponse Headers: .*set-cookie: \[REDACTED\].*\n\nResponse Body:\n/);
    expect(textOf(sent)).toContain('{"method":"POST","body":"hello","token":true}');
    expect(await request('/gone')).toMatchObject({ outcome: 'completed', result: { isError: true, details: { status: 500 } } });
    expect((await request('/echo', { headers: { x: { secret: 'REDIS_URL' } } })).error).toMatchObject({ code: 'policy_denied' });
  });

  it('follows no redirect in http_request, and refuses its target', async () => {
    const moved = await request('/inside');
    expect(textOf(moved)).toMatch(/Status: 302 .*location: http:\/\/169\.254\.169\.254\//s);
    const there = await run('http_request', { url: 'http://169.254.169.254/' }, 'http', { agentId: 'web' });
    expect(there.error).toMatchObject({ code: 'policy_denied' });
  });

  it('refuses a header value of http_request with a line break', async () => {
    const { error } = await request('/echo', { headers: { x: 'a\r\nhost: other' } });
    expect(error).toMatchObject({
      code: 'invalid_arguments',
      message: 'Invalid header "x": its value has line breaks or control characters.',
    });
  });
});

describe('web_search', () => {
  const search = (args: object) => run('web_search', { query: 'tea', ...args }, 'search');

  it('asks the next search engine if one is down [TB-61]', async () => {
    const { result } = await search({});
    expect(result?.details).toMatchObject({ provider: 'searxng', baseUrl: `http://${host}/up`, resultCount: 3 });
  });

  it('leaves blocked domains out of web_search [TB-62]', async () => {
    const found = await search({ blocked_domains: ['bad.example'] });
    expect(textOf(found)).toContain('https://good.example/a');
    expect(textOf(found)).not.toContain('bad.example');
    expect(textOf(await search({ allowed_domains: ['none.example'] }))).toContain('No web search results matched the query "tea".');
  });

  it('sends 200 characters of a longer query to a search engine [TB-63]', async () => {
    await search({ query: 'x'.repeat(300) });
    expect(queries.at(-1)).toBe('x'.repeat(200));
  });
});

describe('web_fetch', () => {
  it('shows in web_fetch only the text around search terms [TB-60]', async () => {
    const fetched = textOf(await run('web_fetch', { url: `http://${host}/page`, search_terms: 'needle' }, 'fetch', { agentId: 'web' }));
    expect(fetched.match(/paragraph \d+/g)).toEqual(['paragraph 29', 'paragraph 30', 'paragraph 31']);
  });
});
