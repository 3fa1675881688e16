import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem, ToolDescriptor } from '#contracts';
import { createRedis, keys } from '#redis';
import { newMarker, processesWith } from '../../libs/tools/src/testing/shell-runs.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-programs-'));
const programs = join(folder, 'bin');
const program = (name: string, script: string) => {
  writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(programs, name), 0o755);
};

let toolyard: TestCluster;
let agent: Agent;
beforeAll(async () => {
  mkdirSync(programs);
  const home = 'ls "$HOME/.aws/cli/alias" 2>&1; mkdir -p "$HOME/.aws"; echo "$HOME $AWS_CONFIG_FILE $AWS_SHARED_CREDENTIALS_FILE"';
  program('aws', `for word in "$@"; do echo "<$word>"; done; case "$4" in delete-bucket) exit 254 ;; *-home) ${home} ;; esac`);
  const path = `${programs}:/usr/local/bin:/usr/bin:/bin`;
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
  program('typescript-language-server', `exec node ${modules}/typescript-language-server/lib/cli.mjs "$@"`);
  // Disables its second server, which responds without types while the first one loads.
  const options = { tsserver: { useSyntaxServer: 'never' } };
  const servers = { typescript: { command: ['typescript-language-server', '--stdio'], extensions: ['ts'], options } };
  const careful = {
    policy: { paths: { trustWorkspace: false, trusted: [{ tools: ['code_edit'], allowed: ['use.ts'] }] } },
    posture: { autonomy: 'supervised', permissionMode: 'workspace-write' },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ agents: { careful } }));
  const env = {
    TOOLYARD_CONFIG: join(folder, 'config.json'),
    PATH: path,
    SANDBOX_READABLE: `${programs},${modules}`,
    LANGUAGE_SERVERS: JSON.stringify(servers),
  };
  toolyard = await startTestCluster({ env });
  agent = new Agent(toolyard.gateways[0]?.url ?? '');
});
afterAll(async () => {
  await toolyard?.close();
  rmSync(folder, { recursive: true });
});

const supervised = (id: string) =>
  agent.request('PUT', `/v1/sessions/${id}`, { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });

describe('aws', () => {
  const operation = (operation_name: string, more: object = {}) => ({ service_name: 's3api', operation_name, region: 'r', ...more });

  it('passes the arguments to aws one by one, never through a shell [TB-10]', async () => {
    const call = await agent.run('use_aws', operation('list-buckets', { parameters: { maxItems: 5, query: '$(id); `id`' } }));
    expect(textOf(call)).toBe('<--region>\n<r>\n<s3api>\n<list-buckets>\n<--max-items>\n<5>\n<--query>\n<$(id); `id`>\n');
    const failed = await agent.run('aws', operation('delete-bucket'));
    expect(failed).toMatchObject({ outcome: 'completed', isError: true, result: { details: { exitCode: 254 } } });
  });

  it('reads for aws no configuration that a model wrote to the workspace', async () => {
    const sessionId = 'planted';
    await agent.run('file_write', { path: '.aws/cli/alias', content: '[toplevel]' }, { sessionId });
    const call = await agent.run('aws', operation('describe-home'), { sessionId });
    const [failed = '', variables = ''] = textOf(call).trim().split('\n').slice(4);
    expect(failed).toContain('No such file');
    const [home = '', ...files] = variables.split(' ');
    expect([files, home.startsWith('/tmp/aws-'), existsSync(home)]).toEqual([['/dev/null', '/dev/null'], true, false]);
  });

  it('reads by aws without asking in a supervised session, and asks for the rest', async () => {
    await supervised('aws');
    expect((await agent.run('aws', operation('describe-things'), { sessionId: 'aws' })).outcome).toBe('completed');
    const { body } = await agent.submit('aws', operation('delete-bucket'), { sessionId: 'aws' });
    expect(body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
  });

  it.each([
    ['get-secret-value', {}],
    ['get-login-password', {}],
    ['get-object', { positional_args: ['.aws/cli/alias'] }],
  ])('asks about aws commands that only seem to read: %s %j', async (name, more) => {
    await supervised('aws');
    const { body } = await agent.submit('aws', operation(name, more), { sessionId: 'aws' });
    expect(body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
  });

  it('refuses aws with arguments that the CLI would take for another option', async () => {
    const call = await agent.run('aws', operation('list-buckets', { parameters: { endpointUrl: 'http://evil.test' } }));
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
  });
});

describe('powershell', () => {
  it('refuses powershell with the reason if no worker has it, and runs it as soon as one has [TB-08]', async () => {
    const run = () => agent.request<Problem>('POST', '/v1/calls', { tool: 'powershell', arguments: { command: 'Write-Output hi' } });
    const refused = await eventually(async () => {
      const answer = await run();
      return answer.status === 503 ? answer.body : undefined;
    }, 'the gateway to know');
    expect(refused.detail).toContain('PowerShell executable not found (expected `pwsh` or `powershell` in PATH)');
    program('pwsh', 'case "$*" in "-NoLogo -NoProfile -NonInteractive -Command Write-Output hi") echo hi ;; *) exit 9 ;; esac');
    await eventually(async () => {
      const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
      return body.tools.find(({ name }) => name === 'powershell')?.available.ok;
    }, 'the gateway to know the program');
    expect(textOf(await agent.run('powershell', { command: 'Write-Output hi' }))).toBe('hi\n');
  });

  it('asks about powershell in a supervised session, for any command', async () => {
    await supervised('powershell');
    const { body } = await agent.submit('powershell', { command: 'ls' }, { sessionId: 'powershell' });
    expect(body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
  });
});

describe('repl', () => {
  const run = (language: string, code: string, sessionId?: string, more: object = {}) =>
    agent.run('repl', { language, code, ...more }, sessionId === undefined ? {} : { sessionId });

  it('runs code in the repl and shows its output and value [TB-07]', async () => {
    const call = await run('py', 'print(1+1)');
    expect(call).toMatchObject({ outcome: 'completed', result: { details: { language: 'python', exitCode: 0 } } });
    expect(textOf(call)).toBe('2');
    expect(textOf(await run('js', '[1, 2].map((n) => n * n)'))).toBe('=> [ 1, 4 ]');
    expect(textOf(await run('bash', 'echo $((1 + 1))'))).toBe('2\n');
  });

  it('keeps variables of the repl for the session and language, and for no other', async () => {
    await run('python', 'n = 41', 'kept');
    expect(textOf(await run('python', 'n + 1', 'kept'))).toBe('=> 42');
    expect(await run('python', 'n', 'other')).toMatchObject({ isError: true });
    expect(textOf(await run('node', 'typeof n', 'kept'))).toBe("=> 'undefined'");
  });

  it('forgets the repl of a deleted session for a session of the same name', async () => {
    await run('python', 'n = 41', 'again');
    expect((await agent.request('DELETE', '/v1/sessions/again')).status).toBe(204);
    const call = await run('python', 'n', 'again');
    expect(textOf(call)).toContain('NameError');
    expect(textOf(call)).not.toContain('is lost');
  });

  it('ends the interpreter of a call whose session was deleted without an announcement to the worker', async () => {
    const marker = newMarker();
    const sessionId = 'unannounced';
    const code = `import os, subprocess\nsubprocess.run(['setsid', '-f', 'bash', '-c', 'exec -a ${marker} sleep 600'])\nwhile not os.path.exists('go'): pass`;
    const { body } = await agent.submit('repl', { language: 'python', code }, { sessionId });
    await eventually(() => processesWith(marker).length > 0, 'the code to run');
    const redis = createRedis(toolyard.redis.url);
    await redis.set(keys.session('default', sessionId), JSON.stringify({ epoch: 1 }));
    redis.disconnect();
    writeFileSync(join(toolyard.workspaceRoot, 'default', 'sessions', sessionId, 'go'), '');
    expect((await agent.ended(body.id)).outcome).toBe('completed');
    await eventually(() => processesWith(marker).length === 0, 'the interpreter to end');
  });

  it('interrupts code of the repl after its time and keeps the state [TB-07]', async () => {
    await run('python', 'n = 1', 'timed');
    // Time that passes before the code begins counts, too.
    const call = await run('python', 'while True: pass', 'timed', { timeout_ms: 3_000 });
    expect(call).toMatchObject({ outcome: 'timed_out' });
    expect(textOf(call)).toContain('it was interrupted, and the state was kept');
    expect(textOf(await run('python', 'n', 'timed'))).toBe('=> 1');
  });

  it('refuses an unknown language, and denies a shell command that is denied', async () => {
    expect(await run('cobol', 'DISPLAY 1')).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
    expect(await run('bash', 'rm -rf /')).toMatchObject({ outcome: 'denied' });
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('reports a lost repl state when its worker has ended by %s [TB-07]', async (signal) => {
    await run('python', 'n = 41', 'moved');
    const before = toolyard.workers.at(-1);
    await toolyard.worker();
    before?.signal(signal);
    await before?.ended();
    expect(textOf(await run('python', '1', 'moved'))).toBe(
      '[The state of earlier python code is lost: the worker that has it is gone, or did not get this call. This code ran in a new interpreter.]\n=> 1',
    );
  });
});

describe('a language server', () => {
  const sessionId = 'typescript';
  const run = (tool: string, args: object) => agent.run(tool, args, { sessionId });
  const place = { file_path: 'use.ts', row: 2, column: 9 };

  it('answers by types with a language server: definition, references, hover, completions, errors [TB-131]', async () => {
    const { tools } = (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools?q=language')).body;
    expect(tools.find(({ name }) => name === 'language_server')?.available).toEqual({ ok: true });
    await run('file_write', { path: 'shop.ts', content: 'export class Shop {\n  open(): number {\n    return 1;\n  }\n}\n' });
    await run('file_write', { path: 'other.ts', content: 'export class Gate {\n  open(): void {}\n}\n' });
    await run('file_write', {
      path: 'use.ts',
      content: "import { Shop } from './shop.js';\nnew Shop().open();\nconst text: string = new Shop().open();\n",
    });
    // On a slow machine, the server has not read the workspace within the time of the first request.
    const defined = await eventually(async () => {
      const call = await run('code', { operation: 'goto_definition', ...place, column: 13 });
      return textOf(call).includes('try again') ? undefined : call;
    }, 'the server to read the workspace');
    expect(textOf(defined)).toBe('shop.ts:2:3 | open(): number {');
    expect(defined.result?.details).toMatchObject({ definitions: [{ path: 'shop.ts', row: 2, column: 3 }] });
    const used = textOf(await run('code', { operation: 'find_references', ...place, column: 13 }));
    expect(used).toBe(
      'shop.ts:2:3 (definition) | open(): number {\nuse.ts:2:12 | new Shop().open();\nuse.ts:3:33 | const text: string = new Shop().open();',
    );
    expect(textOf(await run('language_server', { operation: 'get_hover', ...place, column: 13 }))).toContain('Shop.open(): number');
    expect(textOf(await run('language_server', { operation: 'get_completions', ...place, column: 14 }))).toMatch(/^open method/);
    // A server says in several steps what is wrong with a file: types come last.
    await eventually(async () => {
      const faults = textOf(await run('language_server', { operation: 'get_diagnostics', file_path: 'use.ts' }));
      return faults.includes("use.ts:3:7 error 2322 | Type 'number' is not assignable to type 'string'.");
    }, 'the server to report the fault');
    const wrong = await run('language_server', { operation: 'get_hover', ...place, row: 0 });
    expect(wrong.error).toMatchObject({ code: 'invalid_arguments', message: 'row must be >= 1 (got 0)' });
  });

  it('renames in all files by a language server, only after confirmation [TB-132]', async () => {
    const rename = { operation: 'rename_symbol', ...place, column: 13, new_name: 'unlock' };
    const dry = textOf(await run('code_edit', rename));
    expect(dry).toContain('Would change shop.ts (1 edit)\nWould change use.ts (2 edits)');
    expect(textOf(await run('file_read', { path: 'shop.ts' }))).toContain('open(): number');
    expect(textOf(await run('code_edit', { ...rename, dry_run: false }))).toBe('Changed shop.ts (1 edit)\nChanged use.ts (2 edits)');
    expect(textOf(await run('file_read', { path: 'use.ts' }))).toContain('new Shop().unlock();');
    expect(textOf(await run('file_read', { path: 'other.ts' }))).toContain('open(): void');
    const careful = { sessionId, agentId: 'careful' };
    const back = { operation: 'rename_symbol', ...place, column: 13, new_name: 'open', dry_run: false };
    const refused = await agent.run('code_edit', back, careful);
    expect([refused.outcome, refused.error]).toEqual([
      'denied',
      expect.objectContaining({ code: 'policy_denied', message: expect.stringContaining('the workspace is not trusted for code_edit') }),
    ]);
    expect(textOf(await run('file_read', { path: 'use.ts' }))).toContain('new Shop().unlock();');
    await run('shell', { command: "printf 'export  const   x=1' > x.ts" });
    await run('code_edit', { operation: 'format', path: 'x.ts', dry_run: false });
    expect(textOf(await run('shell', { command: 'cat x.ts' }))).toBe('export const x = 1');
  });

  it('ends the language server and interpreters of a deleted session with their processes, and no others', async () => {
    const marker = newMarker();
    const markerOf = (id: string) => `${marker}-${id}`;
    const starts = (id: string) => `import subprocess\nsubprocess.run(['setsid', '-f', 'bash', '-c', 'exec -a ${markerOf(id)} sleep 600'])`;
    for (const id of ['closing', 'staying']) {
      await agent.run('file_write', { path: 'a.ts', content: 'export const a = 1;\n' }, { sessionId: id });
      const calls = [
        ['language_server', { operation: 'initialize_workspace' }],
        ['repl', { language: 'python', code: starts(id) }],
      ] as const;
      for (const [tool, args] of calls) expect((await agent.run(tool, args, { sessionId: id })).outcome).toBe('completed');
    }
    // The sandbox of each names the folder of its session and the program.
    const programsOf = (id: string) => {
      const commands = processesWith(`sessions/${id}`).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
      return ['typescript-language-server', 'python'].map((name) => commands.some((command) => command.includes(name)));
    };
    expect(programsOf('closing')).toEqual([true, true]);
    expect(processesWith(markerOf('closing'))).toHaveLength(1);
    expect((await agent.request('DELETE', '/v1/sessions/closing')).status).toBe(204);
    const left = () => [...processesWith('sessions/closing'), ...processesWith(markerOf('closing'))];
    await eventually(() => left().length === 0, 'what the session kept to end');
    expect(programsOf('staying')).toEqual([true, true]);
    expect(processesWith(markerOf('staying'))).toHaveLength(1);
  });
});
