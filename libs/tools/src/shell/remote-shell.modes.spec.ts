import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { realpath } from 'node:fs/promises';
import type { RemoteHostSettings } from '#contracts';
import { RemoteHosts } from '#sandbox';
import { ToolError, type ToolContext } from '#tool-sdk';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { SshServer } from '../../../../test/support/ssh-server.js';
import { failureOf, newMarker, outputOf, processesWith, textOf } from '../testing/shell-runs.js';
import { fakeToolContext } from '../testing/tool-context.js';
import { FileReadTool } from '../files/file-read.tool.js';
import { ReplTool } from './repl.tool.js';
import { ShellTool } from './shell.tool.js';

const MIB = 1_048_576;
type More = { working_dir?: string; timeout_ms?: number; persistent?: boolean };

describe('the shell on a host over ssh', () => {
  let server: SshServer;
  const opened: RemoteHosts[] = [];
  beforeAll(async () => void (server = await SshServer.start()));
  afterAll(async () => {
    for (const hosts of opened) hosts.close();
    await server.close();
  });

  function hostsOf(more: Partial<RemoteHostSettings> = {}, env: Record<string, string> = {}): RemoteHosts {
    const hosts = new RemoteHosts({ build: server.settings(more) }, { env });
    opened.push(hosts);
    return hosts;
  }
  const contextOf = (more: Partial<ToolContext> = {}) =>
    fakeToolContext({ sessionId: 's1', workspace: { root: '/nonexistent', onHost: 'build' }, ...more });
  const run = async (command: string, more: More = {}, ctx: ToolContext = contextOf(), hosts = hostsOf()) =>
    outputOf(await new ShellTool(undefined, undefined, hosts).run({ command, persistent: false, background: false, ...more }, ctx));
  const text = async (...args: Parameters<typeof run>) => textOf(await run(...args));
  /** Error of a command that times out once it has written `said`: by a clock, a slow host may not have begun. */
  const failureOverTime = async (command: string, said: string, limitMs: number, hosts?: RemoteHosts) => {
    const over = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);
    try {
      const ctx = contextOf();
      const failure = failureOf(run(command, { timeout_ms: limitMs }, ctx, hosts));
      await Promise.race([failure, eventually(() => ctx.updatedText() === said)]);
      over.abort();
      expect(timeout).toHaveBeenCalledWith(limitMs);
      return await failure;
    } finally {
      timeout.mockRestore();
    }
  };

  it('returns output, exit code and signal of a remote command like a local one, and names the host [TB-01]', async () => {
    expect(await text('echo a; echo b >&2')).toBe('stdout:\na\n\n\nstderr:\nb\n');
    expect(await text('true')).toBe('command completed with no output');
    const failed = await run('printf partial; printf worse >&2; exit 255');
    expect(textOf(failed)).toBe('stdout:\npartial\n\nstderr:\nworse\nExit code: 255');
    expect(failed).toMatchObject({
      isError: true,
      details: { exitCode: 255, sandbox: 'ssh', host: 'build', stdoutBytes: 7, stderrBytes: 5 },
    });
    expect(await text('kill -SEGV $$')).toBe('Exit code: 139');
  });

  it('runs on an unprivileged ssh server, and ends overlong commands there', async () => {
    const own = await SshServer.start({ asOrdinaryUser: true });
    const hosts = new RemoteHosts({ build: own.settings() }, { env: {} });
    const marker = newMarker();
    try {
      const listener = `ps -o uid= -p "$(cat ${own.path('pid')})" | tr -d ' '`;
      expect(await text(`id -u; ${listener}; echo kept > file; cat file`, {}, contextOf(), hosts)).toBe('4242\n4242\nkept\n');
      const failure = await failureOverTime(`setsid bash -c 'sleep 300' ${marker} & echo up; sleep 300`, 'up\n', 1_500, hosts);
      expect([failure.code, processesWith(marker)]).toEqual(['run_timeout', []]);
    } finally {
      hosts.close();
      await own.close();
    }
  });

  it('runs nothing on a host if this worker’s rule differs from the gateway’s', async () => {
    const unknown = { message: expect.stringContaining('run on the host build, which this worker does not know. Nothing was run.') };
    for (const hosts of [new RemoteHosts(), hostsOf({ sessions: ['other'] }), hostsOf({ tenant: 'rival' })])
      expect(await failureOf(run('echo ran > ran', {}, contextOf(), hosts))).toMatchObject({ code: 'unavailable', ...unknown });
    expect(await text('cat ran || echo none')).toContain('none');
  });

  it('runs each session on a host in its own folder, and in no folder outside of it', async () => {
    const root = `${await realpath(server.path('work'))}/default/sessions/s1`;
    expect(await text('mkdir -p "a b"; echo kept > file; pwd; echo "$HOME"')).toBe(`${root}\n${root}\n`);
    expect(await text('pwd; cat ../file', { working_dir: 'a b' })).toBe(`${root}/a b\nkept\n`);
    expect(await text('cat file 2>/dev/null || echo none', {}, contextOf({ sessionId: 's2' }))).toBe('none\n');
    for (const working_dir of ['..', '/', '../s2'])
      expect(await failureOf(run('pwd', { working_dir }))).toMatchObject({ code: 'policy_denied' });
    expect(await failureOf(run('pwd', { working_dir: 'missing' }))).toMatchObject({ code: 'invalid_arguments' });
  });

  it('hides variables of the worker and the connection from a remote command', async () => {
    process.env['REMOTE_CANARY'] = 'canary';
    const seen = await text('env', {}, contextOf({ env: { PATH: '/nowhere', GIVEN: 'canary' } }));
    delete process.env['REMOTE_CANARY'];
    expect(seen).not.toContain('canary');
    const names = seen.split('\n').flatMap((line) => line.split('=')[0] || []);
    const allowed = ['PATH', 'HOME', 'PWD', 'USER', 'LOGNAME', 'LANG', 'TERM', 'TOOLYARD_RUN', 'SHLVL', '_', 'OLDPWD'];
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it('streams each line of a remote command, also a partial one, and keeps 1 MiB of a stream, its end and the exit code', async () => {
    const ctx = contextOf();
    const running = run('printf half; until [ -e gate ]; do sleep 0.02; done; echo two', {}, ctx);
    await eventually(() => ctx.updatedText() === 'half');
    await run('touch gate');
    await running;
    expect(ctx.updatedText()).toBe('halftwo\n');
    const large = await run('head -c 3000000 /dev/zero | tr "\\0" x >&2; exit 5');
    const tail = `${'x'.repeat(77_824)}\nExit code: 5`;
    expect(textOf(large).slice(MIB)).toBe(`\n[stderr truncated — 1,873,600 of 3,000,000 bytes were not kept]\n${tail}`);
  });

  it('passes text of a remote command that only begins like its last line', async () => {
    expect(await text('printf "\\n\\nabc \\n" >&2; sleep 0.1; printf "\\n" >&2')).toBe('\n\nabc \n\n');
  });

  it('kills a remote command on the host after its time, with processes that left its group', async () => {
    const marker = newMarker();
    const daemon = `setsid bash -c 'trap "" TERM HUP; while :; do sleep 0.1; done' ${marker} & echo working; sleep 300`;
    const failure = await failureOverTime(daemon, 'working\n', 1_500);
    expect(failure).toMatchObject({ code: 'run_timeout' });
    expect(failure.message).toContain('Last output:\nworking');
    expect(processesWith(marker)).toEqual([]);
  });

  it('leaves no process of a remote command that ends by itself', async () => {
    const marker = newMarker();
    expect(await text(`setsid bash -c 'sleep 300' ${marker} & bash -c 'sleep 300' ${marker} & echo up`)).toBe('up\n');
    expect(processesWith(marker)).toEqual([]);
  });

  it('allows a cancelled remote command to end in order, and kills it after the grace', async () => {
    const cancelled = async (command: string, graceMs: number) => {
      const cancel = new AbortController();
      const ctx = contextOf({ signal: cancel.signal, graceMs });
      const running = run(command, {}, ctx);
      await eventually(() => ctx.updatedText() === 'up\n');
      cancel.abort(new ToolError('cancelled', 'Cancelled'));
      return { failure: await failureOf(running), ctx };
    };
    const orderly = await cancelled(`trap 'echo goodbye; exit 0' TERM; echo up; while :; do read -rt 0.05 <> <(:); done`, 20_000);
    expect(orderly.failure).toMatchObject({ code: 'cancelled', options: { killed: false, mayHaveFinished: true } });
    expect(orderly.ctx.updatedText()).toBe('up\ngoodbye\n');
    const marker = newMarker();
    const stubborn = await cancelled(`: ${marker}; trap '' TERM; echo up; while :; do sleep 0.05; done`, 50);
    expect(stubborn.failure).toMatchObject({ code: 'cancelled', options: { killed: true } });
    expect(processesWith(marker)).toEqual([]);
  });

  it('limits a remote command to its processor time and file size', async () => {
    const hosts = new RemoteHosts(
      { build: server.settings() },
      { env: {}, limits: { cpuSeconds: 1, fileBytes: MIB, openFiles: 64, memoryBytes: MIB, processes: 8 } },
    );
    opened.push(hosts);
    expect(await text('while :; do :; done', {}, contextOf(), hosts)).toContain('Exit code: 137');
    expect(await text('head -c 3000000 /dev/zero > large; exit $?', {}, contextOf(), hosts)).toContain('larger than the 1 MiB');
  });

  it('reports an unknown outcome when the connection is lost while a remote command runs, and the host ends it', async () => {
    const marker = newMarker();
    const ctx = contextOf();
    const running = run(`: ${marker}; echo up; while :; do sleep 0.05; done`, {}, ctx);
    await eventually(() => ctx.updatedText() === 'up\n');
    expect(processesWith(marker)).not.toEqual([]);
    server.cutConnections();
    const failure = await failureOf(running);
    expect(failure).toMatchObject({ code: 'outcome_unknown', options: { retryable: false } });
    expect(failure.message).toMatch(/^The connection to the host build was lost while the command ran\. .*\n\nOutput until then:\nup$/s);
    await eventually(() => processesWith(marker).length === 0);
  });

  it('ends a remote command by the host when the worker falls silent', async () => {
    const marker = newMarker();
    const ctx = contextOf();
    const running = run(`: ${marker}; echo up; while :; do sleep 0.05; done`, {}, ctx);
    await eventually(() => ctx.updatedText() === 'up\n');
    const clients = processesWith(server.path('user')).map(Number);
    expect(clients).not.toEqual([]);
    for (const pid of clients) process.kill(pid, 'SIGSTOP');
    expect(processesWith(marker)).not.toEqual([]);
    await eventually(() => processesWith(marker).length === 0, 300_000);
    for (const pid of clients) process.kill(pid, 'SIGCONT');
    expect(await failureOf(running)).toMatchObject({ code: 'outcome_unknown' });
  });

  it('reconnects to a host, and reports that nothing was run if it stays away', async () => {
    await server.stopListening();
    const failure = await failureOf(run('echo ran'));
    expect(failure).toMatchObject({ code: 'unavailable', options: { retryable: true } });
    expect(failure.message).toBe('The host build cannot be used: it refuses connections. Nothing was run.');
    const hosts = hostsOf();
    const running = run('echo ran', {}, contextOf(), hosts);
    await eventually(() => hosts.status()[0]?.reason === 'it refuses connections');
    await server.listen();
    expect(textOf(await running)).toBe('ran\n');
    expect(hosts.status()).toEqual([{ name: 'build', tenant: 'default', agents: ['*'], sessions: ['*'], ok: true }]);
  });

  it('sends nothing to a host with another than the pinned key, nor with an unknown private key', async () => {
    const other = hostsOf({ hostKeys: [server.publicKey('other')] });
    const failure = await failureOf(run('echo ran', {}, contextOf(), other));
    expect(failure).toMatchObject({ code: 'unavailable', options: { retryable: false } });
    expect(failure.message).toContain('its key is not one of `hostKeys`');
    const stranger = hostsOf({ identity: { secretFile: server.path('stranger') } });
    expect((await failureOf(run('echo ran', {}, contextOf(), stranger))).message).toContain('it refuses the configured user or key');
    expect(await stranger.get('build')?.probe()).toEqual({ ok: false, reason: 'it refuses the configured user or key' });
  });

  it('reads the private key for ssh from the environment, too, and forwards no agent', async () => {
    const key = server.privateKey();
    const hosts = hostsOf({ identity: { secretEnv: 'BUILD_KEY' } }, { BUILD_KEY: key });
    expect(await text('echo "[$SSH_AUTH_SOCK]"', {}, contextOf(), hosts)).toBe('[]\n');
    expect(() => hostsOf({ identity: { secretEnv: 'BUILD_KEY' } })).toThrow(
      /expected the private key in the environment variable BUILD_KEY/,
    );
  });

  it('refuses on a host the tools that would run on the worker: files, interpreters, a persistent shell', async () => {
    const ctx = contextOf();
    const files = new FileReadTool();
    expect(await failureOf(files.run({ path: 'file' }, ctx))).toMatchObject({
      code: 'unavailable',
      message: /on the host build, over ssh/,
    });
    expect(await failureOf(run('pwd', { persistent: true }))).toMatchObject({ code: 'invalid_arguments' });
    expect(await failureOf(new ReplTool(undefined).run({ language: 'bash', code: 'pwd' }, ctx))).toMatchObject({ code: 'unavailable' });
  });
});
