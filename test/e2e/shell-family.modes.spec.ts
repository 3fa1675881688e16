import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem, ToolDescriptor } from '#contracts';
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
  toolyard = await startTestCluster({ env: { PATH: path, SANDBOX_READABLE: programs } });
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

  it('gets its arguments one by one, never through a shell [TB-10]', async () => {
    const call = await agent.run('use_aws', operation('list-buckets', { parameters: { maxItems: 5, query: '$(id); `id`' } }));
    expect(textOf(call)).toBe('<--region>\n<r>\n<s3api>\n<list-buckets>\n<--max-items>\n<5>\n<--query>\n<$(id); `id`>\n');
    const failed = await agent.run('aws', operation('delete-bucket'));
    expect(failed).toMatchObject({ outcome: 'completed', isError: true, result: { details: { exitCode: 254 } } });
  });

  it('never reads configuration that a model wrote to the workspace', async () => {
    const sessionId = 'planted';
    await agent.run('file_write', { path: '.aws/cli/alias', content: '[toplevel]' }, { sessionId });
    const call = await agent.run('aws', operation('describe-home'), { sessionId });
    const [failed = '', variables = ''] = textOf(call).trim().split('\n').slice(4);
    expect(failed).toContain('No such file');
    const [home = '', ...files] = variables.split(' ');
    expect([files, home.startsWith('/tmp/aws-'), existsSync(home)]).toEqual([['/dev/null', '/dev/null'], true, false]);
  });

  it('reads without asking in a supervised session, and asks for the rest', async () => {
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
  ])('is asked for where it only seems to read: %s %j', async (name, more) => {
    await supervised('aws');
    const { body } = await agent.submit('aws', operation(name, more), { sessionId: 'aws' });
    expect(body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
  });

  it('is refused with arguments that the CLI would take for another option', async () => {
    const call = await agent.run('aws', operation('list-buckets', { parameters: { endpointUrl: 'http://evil.test' } }));
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
  });
});

describe('powershell', () => {
  it('is refused with the reason where no worker has it, and runs as soon as one has [TB-08]', async () => {
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

  it('is asked for in a supervised session, whatever the command', async () => {
    await supervised('powershell');
    const { body } = await agent.submit('powershell', { command: 'ls' }, { sessionId: 'powershell' });
    expect(body.status).toBe('waiting_approval');
    await agent.request('POST', `/v1/calls/${body.id}/cancel`, {});
  });
});

describe('repl', () => {
  const run = (language: string, code: string, sessionId?: string, more: object = {}) =>
    agent.run('repl', { language, code, ...more }, sessionId === undefined ? {} : { sessionId });

  it('runs code and shows its output and value [TB-07]', async () => {
    const call = await run('py', 'print(1+1)');
    expect(call).toMatchObject({ outcome: 'completed', result: { details: { language: 'python', exitCode: 0 } } });
    expect(textOf(call)).toBe('2');
    expect(textOf(await run('js', '[1, 2].map((n) => n * n)'))).toBe('=> [ 1, 4 ]');
    expect(textOf(await run('bash', 'echo $((1 + 1))'))).toBe('2\n');
  });

  it('keeps variables for the session and language, and for no other', async () => {
    await run('python', 'n = 41', 'kept');
    expect(textOf(await run('python', 'n + 1', 'kept'))).toBe('=> 42');
    expect(await run('python', 'n', 'other')).toMatchObject({ isError: true });
    expect(textOf(await run('node', 'typeof n', 'kept'))).toBe("=> 'undefined'");
  });

  it('keeps nothing for a session of the same name after a deletion', async () => {
    await run('python', 'n = 41', 'again');
    expect((await agent.request('DELETE', '/v1/sessions/again')).status).toBe(204);
    const call = await run('python', 'n', 'again');
    expect(textOf(call)).toContain('NameError');
    expect(textOf(call)).not.toContain('is lost');
  });

  it('interrupts code after its time and keeps the state [TB-07]', async () => {
    await run('python', 'n = 1', 'timed');
    const call = await run('python', 'while True: pass', 'timed', { timeout_ms: 300 });
    expect(call).toMatchObject({ outcome: 'timed_out' });
    expect(textOf(call)).toContain('it was interrupted, and the state was kept');
    expect(textOf(await run('python', 'n', 'timed'))).toBe('=> 1');
  });

  it('refuses an unknown language, and denies a shell command that is denied', async () => {
    expect(await run('cobol', 'DISPLAY 1')).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
    expect(await run('bash', 'rm -rf /')).toMatchObject({ outcome: 'denied' });
  });

  it('says that the state is lost when its worker has stopped', async () => {
    await run('python', 'n = 41', 'moved');
    const [before] = toolyard.workers;
    await toolyard.worker();
    before?.signal('SIGTERM');
    await before?.ended();
    expect(textOf(await run('python', '1', 'moved'))).toBe(
      '[The state of earlier python code is lost: the worker that has it is gone, or did not get this call. This code ran in a new interpreter.]\n=> 1',
    );
  });
});
