import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, isAlive, pidsIn } from '../process/process.fixture.js';
import { BubblewrapSandbox } from '../sandbox/bubblewrap-sandbox.adapter.js';
import { HostSandbox } from '../sandbox/host-sandbox.adapter.js';
import { sandboxFrom } from '../sandbox/sandbox.config.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { ToolFailure, type ToolContext, type ToolOutputObject } from '../tool.port.js';
import { ShellTool } from './shell.tool.js';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'shell-tool-')));
  await mkdir(join(root, 'sub'));
  await writeFile(join(root, 'file'), '');
  await symlink('/etc', join(root, 'way-out'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const context = (overrides: Partial<ToolContext> = {}) => fakeToolContext({ workspace: { root }, ...overrides });
const shell = new ShellTool(new HostSandbox());
const run = (command: string, more: { working_dir?: string; timeout_ms?: number } = {}, ctx = context()) =>
  shell.run({ command, ...more }, ctx);

function textOf({ content: [first] }: ToolOutputObject): string {
  return first?.type === 'text' ? first.text : `no text but ${first?.type}`;
}

describe('shell', () => {
  it.each([
    ['stdout alone', 'echo a', 'a\n'],
    ['stderr alone', 'echo b >&2', 'b\n'],
    ['both, told apart', 'echo a; echo b >&2', 'stdout:\na\n\n\nstderr:\nb\n'],
    ['a word for nothing', 'true', 'command completed with no output'],
  ])('returns %s', async (_, command, expected) => {
    const output = await run(command);
    expect(textOf(output)).toBe(expected);
    expect(output.isError).toBeUndefined();
  });

  it('shows a non-zero exit code to the model as an error, with the output', async () => {
    const output = await run('printf partial; exit 3');
    expect(textOf(output)).toBe('partial\nExit code: 3');
    expect(output).toMatchObject({
      isError: true,
      details: { exitCode: 3, signal: null, stdoutBytes: 7, stderrBytes: 0, sandbox: 'host' },
    });
  });

  it('shows a signal that ended the command', async () => {
    expect(textOf(await run('kill -SEGV $$'))).toBe('Exit code: -1\nSignal: SIGSEGV');
  });

  it('runs in the workspace, which is also its home, or in a folder of it', async () => {
    expect(textOf(await run('pwd; echo "$HOME $PWD"'))).toBe(`${root}\n${root} ${root}\n`);
    expect(textOf(await run('pwd', { working_dir: 'sub' }))).toBe(`${root}/sub\n`);
    expect(textOf(await run('pwd', { working_dir: `${root}/sub/../sub` }))).toBe(`${root}/sub\n`);
  });

  it.each([
    ['..', 'policy_denied'],
    ['sub/../../x', 'policy_denied'],
    ['/etc', 'policy_denied'],
    ['way-out', 'policy_denied'],
    ['a\0b', 'policy_denied'],
    ['~', 'policy_denied'],
    ['missing', 'invalid_arguments'],
    ['file', 'invalid_arguments'],
  ])('refuses to run in %j', async (working_dir, code) => {
    await expect(run('pwd', { working_dir })).rejects.toMatchObject({ name: 'ToolFailure', code });
  });

  it('gives the command the variables of the context and no others', async () => {
    process.env['SHELL_TOOL_SECRET'] = 'canary';
    const text = textOf(await run('env', {}, context({ env: { PATH: '/usr/bin:/bin', GIVEN: 'yes' } })));
    delete process.env['SHELL_TOOL_SECRET'];
    const names = text.split('\n').flatMap((line) => line.split('=')[0] || []);
    expect(names.filter((name) => !['GIVEN', 'PATH', 'HOME', 'PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toEqual([]);
    expect(names).toContain('GIVEN');
  });

  it('shows each line while the command still runs', async () => {
    const ctx = context();
    const seen: number[] = [];
    const began = performance.now();
    let ended = false;
    const running = run('for i in 1 2 3; do echo line $i; sleep 0.4; done', {}, ctx).finally(() => (ended = true));
    for (const line of ['line 1', 'line 2', 'line 3']) {
      await eventually(() => ctx.updatedText().includes(line));
      expect(ended).toBe(false);
      seen.push(performance.now() - began);
    }
    await running;
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeGreaterThan(200);
    expect(ctx.updatedText()).toBe('line 1\nline 2\nline 3\n');
  });

  it('keeps 1 MiB of a stream, says so, and sends no more as updates', async () => {
    const ctx = context();
    const output = await run('head -c 3000000 /dev/zero | tr "\\0" x', {}, ctx);
    expect(textOf(output).slice(1_048_576)).toBe('\n[stdout truncated — 1,048,576 of 3,000,000 bytes kept]');
    expect(ctx.updatedText()).toHaveLength(1_048_576);
    expect(output.details).toMatchObject({ stdoutBytes: 3_000_000 });
  });

  it('kills a command that takes longer than it may, and shows the last it said', async () => {
    const failure = await failureOf(run('echo working; sleep 300', { timeout_ms: 300 }));
    expect(failure).toMatchObject({ code: 'run_timeout' });
    expect(failure.message).toBe('Command timed out after 0.3s and was killed\n\nLast output:\nworking');
  });

  it('fails with the reason of a cancel, says whether it had to kill, and leaves nothing alive', async () => {
    const cancel = new AbortController();
    const pids = join(root, 'cancelled');
    const running = run(
      `trap '' TERM; echo $$ > ${pids}; while :; do sleep 0.05; done`,
      {},
      context({ signal: cancel.signal, graceMs: 100 }),
    );
    const alive = await eventually(() => pidsIn(pids, 1));
    cancel.abort(new ToolFailure('cancelled', 'Cancelled'));
    expect(await failureOf(running)).toMatchObject({ code: 'cancelled', message: 'Cancelled', options: { killed: true } });
    expect(alive.filter(isAlive)).toEqual([]);
  });

  it('uses the grace that the cancel brought, and calls the deadline of the call a time-out', async () => {
    const cancel = new AbortController();
    let graceMs = 60_000;
    const base = context({ signal: cancel.signal });
    const ctx = Object.defineProperty({ ...base }, 'graceMs', { get: () => graceMs });
    const running = run(`trap '' TERM; echo up; while :; do sleep 0.05; done`, {}, ctx);
    await eventually(() => ctx.updatedText() === 'up\n');
    graceMs = 50;
    cancel.abort(new ToolFailure('run_timeout', 'The call ran longer than allowed.'));
    const failure = await failureOf(running);
    expect(failure).toMatchObject({ code: 'run_timeout', options: { killed: true } });
    expect(failure.message).toMatch(/^Command timed out after \d+(\.\d)?s and was killed\n\nLast output:\nup$/);
  }, 10_000);

  it('kills what the command left running in the background', async () => {
    const pids = join(root, 'background');
    await run(
      `(sleep 300 & echo $! >> ${pids}); setsid bash -c 'echo $$ >> ${pids}; exec sleep 300' & until [ $(wc -l < ${pids}) = 2 ]; do sleep 0.01; done`,
    );
    expect((await eventually(() => pidsIn(pids, 2))).filter(isAlive)).toEqual([]);
  });

  it('says what to do with a command that is too long for the system', async () => {
    const failure = await failureOf(run(`echo ${'x'.repeat(200_000)}`));
    expect(failure).toMatchObject({ code: 'invalid_arguments' });
    expect(failure.message).toContain('Write the script to a file');
    expect(await failureOf(run('echo a\0b'))).toMatchObject({
      code: 'invalid_arguments',
      message: 'Execution failed: the command contains a NUL character',
    });
  });

  it('runs nothing in a sandbox that does not work here', async () => {
    const disabled = new ShellTool(new BubblewrapSandbox('/bin/false'));
    await expect(disabled.run({ command: 'echo ran' }, context())).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^shell tool is disabled: bwrap does not work here/),
    });
  });
});

describe('the sandbox setting', () => {
  it('is host unless told otherwise, and refuses what it does not know', () => {
    expect(sandboxFrom({}).name).toBe('host');
    expect(sandboxFrom({ SANDBOX: 'bubblewrap' }).name).toBe('bubblewrap');
    expect(() => sandboxFrom({ SANDBOX: 'docker' })).toThrow('SANDBOX: expected host or bubblewrap, got "docker"');
  });

  it('tells the operator what is missing when bwrap is not there', async () => {
    expect(await new BubblewrapSandbox(undefined).probe()).toMatchObject({ name: 'bubblewrap' });
    expect(await new BubblewrapSandbox('/nonexistent/bwrap').probe()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('apt-get install bubblewrap'),
    });
  });
});

const bubblewrap = await new BubblewrapSandbox().probe();
const whereItWorks = bubblewrap.ok ? describe : describe.skip;

whereItWorks(`the shell in bubblewrap (${bubblewrap.detail})`, () => {
  const isolated = new ShellTool(new BubblewrapSandbox());
  const inside = (command: string, ctx = context()) => isolated.run({ command }, ctx).then(textOf);

  it('writes in the workspace and sees neither the host nor its network', async () => {
    expect(await inside('echo made > made; cat made')).toBe('made\n');
    expect(await inside('ls /root /home /etc/passwd 2>&1 | grep -c "No such file"')).toBe('3\n');
    expect(await inside('touch /usr/x 2>&1')).toContain('Read-only file system');
    expect(await inside('cat /proc/net/dev | grep -vc lo:; ls /proc | grep -c "^[0-9]"')).toMatch(/^2\n[1-9]\n$/);
  });

  it('is gone with everything in it when it is cancelled', async () => {
    const cancel = new AbortController();
    const ctx = context({ signal: cancel.signal, graceMs: 100 });
    const marker = `sleep 3${process.pid}`;
    const running = isolated.run({ command: `setsid ${marker} & echo up; ${marker}` }, ctx);
    await eventually(() => ctx.updatedText() === 'up\n');
    cancel.abort(new ToolFailure('cancelled', 'Cancelled'));
    expect(await failureOf(running)).toMatchObject({ code: 'cancelled' });
    expect(textOf(await run(`grep -lsz "^3${process.pid}$" /proc/[0-9]*/cmdline || true`))).toBe('command completed with no output');
  });
});

async function failureOf(running: Promise<unknown>): Promise<ToolFailure> {
  const failure = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof ToolFailure) return failure;
  throw new Error(`expected a ToolFailure, got ${String(failure)}`);
}
