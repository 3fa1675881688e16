import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_LIMITS, runProcess } from '#sandbox';
import { ToolError } from '#tool-sdk';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { failureOf, newMarker, processesWith, ShellRuns, textOf, type SandboxUnderTest } from '../testing/shell-runs.js';

/** Behaviour of the shell in any sandbox. */
export function sandboxContract(name: string, under: SandboxUnderTest): void {
  describe(`a command in the sandbox ${name}`, () => {
    let runs: ShellRuns;
    beforeAll(async () => void (runs = await ShellRuns.open(under)));
    afterAll(() => runs.close());

    it.each([
      ['stdout alone', 'echo a', 'a\n'],
      ['stderr alone', 'echo b >&2', 'b\n'],
      ['both, separated', 'echo a; echo b >&2', 'stdout:\na\n\n\nstderr:\nb\n'],
      ['a word for nothing', 'true', 'command completed with no output'],
    ])('shows the output of a command: %s [EX-31, TB-01]', async (_, command, expected) => {
      const output = await runs.run(command);
      expect(textOf(output)).toBe(expected);
      expect(output.isError).toBeUndefined();
    });

    it('shows a command that ends with another code than 0 to the model as an error, with the output [TB-01]', async () => {
      const output = await runs.run('printf partial; exit 3');
      expect(textOf(output)).toBe('partial\nExit code: 3');
      expect(output).toMatchObject({
        isError: true,
        details: { exitCode: 3, signal: null, stdoutBytes: 7, stderrBytes: 0, sandbox: name },
      });
    });

    it('reports the CPU time of a command, or that it is unknown', async () => {
      const times: unknown[] = [];
      await runs.run('true', {}, { ...runs.context(), onCpuTime: (ms) => void times.push(ms) });
      const bare = { file: '/bin/true', args: [], cwd: '/', env: {}, limits: DEFAULT_LIMITS };
      const { cpuMs } = await runProcess(bare, { signal: AbortSignal.timeout(20_000), graceMs: 0 });
      expect(times).toEqual([cpuMs === undefined ? undefined : expect.any(Number)]);
    });

    it('shows the signal that ended a command, as itself or as a shell does by 128 and its number', async () => {
      const output = await runs.run('kill -SEGV $$');
      expect(textOf(output)).toMatch(/^(Exit code: -1\nSignal: SIGSEGV|Exit code: 139)$/);
      expect(output.isError).toBe(true);
    });

    it('runs a command in the workspace, which is also its home, or in a folder of it [CC-19]', async () => {
      const { root } = runs;
      expect(await runs.text('pwd; echo "$HOME $PWD"')).toBe(`${root}\n${root} ${root}\n`);
      expect(await runs.text('pwd', { working_dir: 'sub' })).toBe(`${root}/sub\n`);
      expect(await runs.text('pwd', { working_dir: `${root}/sub/../sub` })).toBe(`${root}/sub\n`);
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
    ])('refuses to run a command in %j', async (working_dir, code) => {
      await expect(runs.run('pwd', { working_dir })).rejects.toMatchObject({ name: 'ToolError', code });
    });

    it('leaves files of a command to the owner of the workspace, and reads the owner’s files', async () => {
      expect(await runs.text('echo made > made && cat made file && test -O file && echo mine')).toBe('made\nmine\n');
      expect((await stat(join(runs.root, 'made'))).uid).toBe((await stat(runs.root)).uid);
    });

    it('gives a command a user with a name, localhost, and the usual temporary folders', async () => {
      expect(await runs.text('getent passwd "$(id -u)" | cut -d: -f3; id -gn >/dev/null')).toMatch(/^\d+\n$/);
      expect(await runs.text('getent ahosts localhost | cut -d" " -f1 | sort -u')).toMatch(/^(127\.0\.0\.1|::1)\n/);
      expect(await runs.text('for folder in /tmp /var/tmp /dev/shm; do rm "$(mktemp -p $folder)" && echo $folder; done')).toBe(
        '/tmp\n/var/tmp\n/dev/shm\n',
      );
    });

    it('shows a command the variables of the context and no others [CC-19]', async () => {
      process.env['SANDBOX_CONTRACT_SECRET'] = 'canary';
      const text = await runs.text('env', {}, runs.context({ env: { PATH: '/usr/bin:/bin', GIVEN: 'yes' } }));
      delete process.env['SANDBOX_CONTRACT_SECRET'];
      const names = text.split('\n').flatMap((line) => line.split('=')[0] || []);
      expect(names.filter((each) => !['GIVEN', 'PATH', 'HOME', 'PWD', 'SHLVL', '_', 'OLDPWD'].includes(each))).toEqual([]);
      expect(names).toContain('GIVEN');
    });

    it('shows each line of a command while it still runs', async () => {
      const ctx = runs.context();
      let ended = false;
      const running = runs.run('echo one; until [ -e gate ]; do sleep 0.02; done; echo two', {}, ctx).finally(() => (ended = true));
      await eventually(() => ctx.updatedText() === 'one\n');
      expect(ended).toBe(false);
      await runs.run('touch gate');
      await running;
      expect(ctx.updatedText()).toBe('one\ntwo\n');
    });

    it('keeps 1 MiB of a command’s stream, reports it, and sends no further updates', async () => {
      const ctx = runs.context();
      const output = await runs.run('head -c 3000000 /dev/zero | tr "\\0" x', {}, ctx);
      expect(textOf(output).slice(1_048_576)).toBe(
        `\n[stdout truncated — 1,873,600 of 3,000,000 bytes were not kept]\n${'x'.repeat(77_824)}`,
      );
      expect(ctx.updatedText()).toHaveLength(1_048_576);
      expect(output.details).toMatchObject({ stdoutBytes: 3_000_000 });
    });

    it('kills a command after its time, and shows its last output [EX-31]', async () => {
      const failure = await failureOf(runs.run('echo working; sleep 300', { timeout_ms: 1_500 }));
      expect(failure).toMatchObject({ code: 'run_timeout' });
      expect(failure.message).toBe('Command timed out after 1.5s and was killed\n\nLast output:\nworking');
    });

    it('allows a cancelled command to end in order', async () => {
      const cancel = new AbortController();
      const ctx = runs.context({ signal: cancel.signal, graceMs: 10_000 });
      const running = runs.run(
        `trap 'echo goodbye; echo tidy > tidied; exit 0' TERM; echo up; while :; do read -rt 0.05 <> <(:); done`,
        {},
        ctx,
      );
      await eventually(() => ctx.updatedText() === 'up\n');
      cancel.abort(new ToolError('cancelled', 'Cancelled'));
      expect(await failureOf(running)).toMatchObject({ code: 'cancelled', options: { killed: false, mayHaveFinished: true } });
      expect(ctx.updatedText()).toBe('up\ngoodbye\n');
      expect(await runs.text('cat tidied')).toBe('tidy\n');
    });

    it('kills a command that ignores SIGTERM after the cancel’s grace, with all its processes', async () => {
      const cancel = new AbortController();
      let graceMs = 60_000;
      const base = runs.context({ signal: cancel.signal });
      const ctx = Object.defineProperty({ ...base }, 'graceMs', { get: () => graceMs });
      const marker = newMarker();
      const running = runs.run(`: ${marker}; trap '' TERM; echo up; while :; do sleep 0.05; done`, {}, ctx);
      await eventually(() => ctx.updatedText() === 'up\n');
      expect(processesWith(marker)).not.toEqual([]);
      graceMs = 50;
      cancel.abort(new ToolError('cancelled', 'Cancelled'));
      expect(await failureOf(running)).toMatchObject({ code: 'cancelled', message: 'Cancelled', options: { killed: true } });
      expect(processesWith(marker)).toEqual([]);
    });

    it('refuses a command that is too long for the system or contains NUL, with advice', async () => {
      const failure = await failureOf(runs.run(`echo ${'x'.repeat(200_000)}`));
      expect(failure).toMatchObject({ code: 'invalid_arguments' });
      expect(failure.message).toContain('Write the script to a file');
      expect(await failureOf(runs.run('echo a\0b'))).toMatchObject({ code: 'invalid_arguments' });
    });

    const verb = under.isolated ? 'does not see' : 'sees, for it is not isolated,';
    it(`${verb} the files, the processes and the network of the machine`, async () => {
      const outside = await runs.text('ls -d /root /home /etc/hostname 2>/dev/null | wc -l');
      const processes = Number(await runs.text('ls /proc | grep -c "^[0-9]"'));
      const networks = Number(await runs.text('grep -vc -e lo: -e "|" /proc/net/dev || true'));
      if (!under.isolated) {
        expect(Number(outside)).toBeGreaterThan(0);
        return;
      }
      expect(outside).toBe('0\n');
      expect(await runs.text('cut -d: -f1 /etc/passwd')).toBe('root\nnobody\n');
      expect(processes).toBeLessThan(10);
      expect(networks).toBe(0);
      expect(await runs.text('touch /usr/x /etc/x /x /dev/x 2>&1; echo tmp > /tmp/x && cat /tmp/x; id -u')).toMatch(
        /^(touch: .*Read-only file system\n){4}tmp\n65534\n/,
      );
      expect(await runs.text('grep CapEff /proc/self/status')).toBe('CapEff:\t0000000000000000\n');
      expect(await runs.text('cat /tmp/x 2>&1')).toContain('No such file');
    });
  });
}
