import { createServer, type Server } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { textOf } from '../support/policy-case.js';

/** The smallest that is recognised as an image. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

/** JSON between the marks of content from outside. */
function jsonOf(call: Call): unknown {
  const text = textOf(call);
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
}

describe('what a model reads of a tool', () => {
  let site: Server;
  let tenant: Tenant;
  let agent: Agent;
  let origin: string;

  beforeAll(async () => {
    site = createServer((request, response) => {
      if (request.url === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
      else if (request.url === '/gone') response.writeHead(404, { 'content-type': 'text/plain' }).end('it is gone. '.repeat(200));
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>T</title><h1>Head</h1><p>text</p>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    const policy = { profile: 'oxydra' as const, egress: { privateHosts: [`127.0.0.1:${port}`] } };
    tenant = await useTenant('tool-rows', { settings: { agents: { oxydra: { policy } } } });
    agent = tenant.agent;
  });
  afterAll(async () => {
    await tenant?.close();
    site.close();
  });

  const run = (tool: string, args: unknown, more: Record<string, unknown> = {}) => agent.run(tool, args, { sessionId: 'rows', ...more });

  it('shows a model the bytes of a file that is written and makes its folders [TB-33]', async () => {
    const first = await run('file_write', { path: 'written/deep/x', content: 'é' });
    expect(textOf(first)).toBe('Wrote 2 bytes to written/deep/x');
    expect(first.result?.details).toMatchObject({ path: 'written/deep/x', bytes: 2, created: true });
    expect((await run('file_write', { path: 'written/deep/x', content: '' })).result?.details).toMatchObject({ bytes: 0, created: false });
  });

  it('shows a model a folder as a sorted list with a slash behind folders, or that it is empty [TB-28]', async () => {
    await run('shell', { command: 'mkdir -p listed/b empty; touch listed/a' });
    expect(textOf(await run('file_list', { path: 'listed' }))).toBe('a\nb/');
    expect(textOf(await run('file_list', { path: 'empty' }))).toBe('no entries found');
  });

  it('shows a model the similar lines, the number of places, or the replaced text of an edit [TB-36]', async () => {
    await run('file_write', { path: 'e.ts', content: 'function f() {\n    return 1;\n}\nx\nx\n' });
    const edit = async (old_text: string, new_text: string, path = 'e.ts') => textOf(await run('edit_file', { path, old_text, new_text }));
    const missing = await edit('  return 1;\n}\n\n', 'y');
    expect(missing).toMatch(/^old_text not found in e\.ts\./);
    expect(await edit('function f() {\n  return 1;', 'y')).toMatch(/Did you mean:[^]* {4}return 1;/);
    expect(await edit('x', 'y')).toMatch(/^old_text matches 2 locations in e\.ts\. Include more surrounding context/);
    expect(await edit('x', 'x')).toBe('No changes (old_text == new_text)');
    expect(await edit('x', 'y', 'none.ts')).toContain('file_write');
    expect(await edit('    return 1;\n', '    return 2;\n    // end\n')).toBe('Replaced 1 line(s) with 2 line(s) in e.ts');
  });

  it('shows a model that a command could not be started, and why [EX-31, TB-01]', async () => {
    const call = await run('shell', { command: `: ${'é'.repeat(100_000)}` });
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' }, attempt: 1 });
    expect(call.error?.message).toMatch(/^Execution failed: the command or the environment is longer than the system takes/);
  });

  it('refuses a shell command longer than Linux accepts before policy reads it', async () => {
    const call = await run('shell', { command: 'x'.repeat(131_072) });
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' }, attempt: 0 });
    expect(JSON.stringify(call.error)).toContain('131071');
  });

  it('gives a command the folder, home and variables of session and operator, and no others [CC-19]', async () => {
    const root = tenant.workspaceOf('rows');
    expect(textOf(await run('shell', { command: 'pwd; echo $HOME; echo $ONLY_THIS; echo ${OTHER-none}' }))).toBe(
      `${root}\n${root}\ngiven\nnone\n`,
    );
  });

  it('continues a shell in its folder, and shows the status of a failed command [TB-05]', async () => {
    const oxydra = { agentId: 'oxydra' };
    await run('shell_exec', { command: 'cd /tmp', persistent: true });
    expect(textOf(await run('shell_exec', { command: 'pwd', persistent: true }))).toBe('/tmp\n');
    await run('file_write', { path: 'empty.txt', content: '' });
    expect(textOf(await run('shell_exec', { command: 'cat missing.txt' }, oxydra))).toMatch(
      /^command exited with status 1: .*missing\.txt/,
    );
    expect(textOf(await run('shell_exec', { command: 'cat empty.txt' }, oxydra))).toBe('command completed with no output');
  });

  it('continues a shell with its functions, also exported ones and those with extended patterns', async () => {
    const keeps = async (command: string, sessionId: string) => textOf(await run('shell', { command, persistent: true }, { sessionId }));
    const patterns = 'shopt -s extglob\nf() { case $1 in +([0-9])) echo num;; *) echo other;; esac; }\nzz() { echo zz; }\nf 12';
    expect([await keeps(patterns, 'patterns'), await keeps('f 7; zz', 'patterns')]).toEqual(['num\n', 'num\nzz\n']);
    await keeps('greet() { echo hi; }; export -f greet', 'exported');
    expect(await keeps('bash -c greet', 'exported')).toBe('hi\n');
  });

  it('shows agents that expect it a fetched page as one JSON object, and a binary file as its facts [TB-58]', async () => {
    const fetched = async (path: string, more: object = {}) => run('web_fetch', { url: origin + path, ...more }, { agentId: 'oxydra' });
    expect(jsonOf(await fetched('/image'))).toEqual({
      url: `${origin}/image`,
      status: 200,
      output_format: 'auto',
      mode: 'metadata_only',
      content_type: 'image/png',
      content_length: null,
      body: null,
      truncated: false,
      title: null,
      note: 'binary content omitted to reduce token usage',
    });
    const page: unknown = jsonOf(await fetched('/page', { max_body_chars: 6 }));
    expect(page).toMatchObject({ status: 200, title: 'T', truncated: true, body: expect.stringMatching(/\n\n\[truncated\]$/) });
    const gone = await fetched('/gone');
    expect(gone).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed' } });
    expect(gone.error?.message).toContain(`HTTP 404 Not Found from ${origin}/gone\n\n${'it is gone. '.repeat(30)}`);
    expect(gone.error?.message).not.toContain('it is gone. '.repeat(43));
  });

  it('shows a document of the product by path or topic, else the index of all [TB-80]', async () => {
    const answered = async (args: object, more: object = {}) => {
      const [item] = (await run('introspect', args, { ...more })).result?.content ?? [];
      return item?.type === 'json' ? item.json : item;
    };
    const policy = readFileSync('libs/policy/README.md', 'utf8');
    expect(await answered({ doc_path: 'libs/policy/README.md' })).toEqual({ documentation: policy, query_context: '' });
    expect(await answered({ query: 'four eyes: which key may allow a call?' }, { dialect: 'kiro' })).toEqual({
      documentation: expect.stringMatching(/^\[[^\]]+\][^]*fourEyes: true/),
      query_context: 'four eyes: which key may allow a call?',
    });
    const index = { documentation: expect.stringMatching(/^Documents:\n- README\.md: Toolyard\n[^]*- deploy\/CONFIGURATION\.md: /) };
    expect(await answered({})).toMatchObject(index);
    expect(await answered({ query: 'zzzzz' })).toMatchObject({ ...index, query_context: 'zzzzz' });
    for (const doc_path of ['../../etc/passwd', '/etc/passwd', 'package.json', 'constructor']) {
      const refused = await run('introspect', { doc_path });
      expect(refused).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
      expect(textOf(refused)).toContain(`There is no document ${doc_path}.`);
    }
  });

  it('shows a model that a tool timed out, long before it would have ended by itself [CC-10]', async () => {
    const call = await run('shell', { command: 'sleep 60', timeout_ms: 100 });
    expect(call).toMatchObject({ outcome: 'timed_out', error: { code: 'run_timeout' } });
    expect(call.error?.message).toMatch(/timed out after 0\.1s/);
    const whole = await run('shell', { command: 'sleep 60' }, { timeouts: { runMs: 1_000 } });
    expect(whole.error?.message).toMatch(/timed out after/);
  });
});
