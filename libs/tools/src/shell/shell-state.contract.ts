import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ToolContext } from '#tool-sdk';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { failureOf, newMarker, ShellRuns, textOf, type SandboxUnderTest } from '../testing/shell-runs.js';

/** State of a session's shell between calls, in any sandbox. */
export function shellStateContract(name: string, under: SandboxUnderTest): void {
  describe(`a persistent shell in the sandbox ${name}`, () => {
    let runs: ShellRuns;
    beforeAll(async () => void (runs = await ShellRuns.open(under)));
    afterAll(() => runs.close());
    const keeps = (ctx: ToolContext, command: string, more: { working_dir?: string; timeout_ms?: number } = {}) =>
      runs.text(command, { persistent: true, ...more }, ctx);

    it('keeps the folder of a persistent shell, inside the workspace and in /tmp [TB-05]', async () => {
      const ctx = await runs.session('folders');
      await keeps(ctx, 'mkdir -p "a b/c" && cd "a b/c"');
      expect(await keeps(ctx, 'pwd; cd ..')).toBe(`${ctx.workspace.root}/a b/c\n`);
      expect(await keeps(ctx, 'pwd; cd /tmp')).toBe(`${ctx.workspace.root}/a b\n`);
      expect(await keeps(ctx, 'pwd; cd - > /dev/null; pwd')).toBe(`/tmp\n${ctx.workspace.root}/a b\n`);
      expect(await keeps(ctx, 'pwd', { working_dir: '.' })).toBe(`${ctx.workspace.root}\n`);
      expect(await runs.text('pwd', {}, ctx)).toBe(`${ctx.workspace.root}\n`);
    });

    it('keeps variables of every kind, functions and the umask of a persistent shell', async () => {
      const ctx = await runs.session('variables');
      await keeps(
        ctx,
        `plain="it's \\"so\\""; export SHOWN=$'two\\nlines'; list=(a 'b c'); declare -A map=([k]='v w'); declare -r fixed=1; umask 027; greet() { echo "hi $1"; }`,
      );
      expect(
        await keeps(ctx, 'echo "$plain|$SHOWN|${list[1]}|${map[k]}|$fixed|$(umask)"; greet you; env | grep -c "^SHOWN="; unset plain'),
      ).toBe(`it's "so"|two\nlines|b c|v w|1|0027\nhi you\n1\n`);
      expect(await keeps(ctx, 'echo "[$plain][$1][$#]"')).toBe('[][][0]\n');
    });

    it('keeps functions of a persistent shell with extended patterns, and exported ones', async () => {
      const ctx = await runs.session('functions');
      const define = 'shopt -s extglob\nf() { case $1 in +([0-9])) echo num;; *) echo other;; esac; }\nzz() { echo zz; }';
      expect(await keeps(ctx, `${define}\nf 12`)).toBe('num\n');
      expect(await keeps(ctx, 'f 7; f x; zz')).toBe('num\nother\nzz\n');
      await keeps(ctx, 'shopt -u extglob; greet() { echo hi; }; export -f greet');
      expect(await keeps(ctx, 'bash -c greet; zz; shopt -q extglob || echo off')).toBe('hi\nzz\noff\n');
      expect(await keeps(ctx, 'export -nf greet; bash -c greet 2>/dev/null; f 7')).toBe('other\n');
      expect(await keeps(ctx, 'bash -c greet 2>/dev/null || greet')).toBe('hi\n');
    });

    it('keeps the changes before a failure or an exit in a persistent shell, and returns its code', async () => {
      const ctx = await runs.session('failing');
      const failed = await runs.run('x=1; set -eu; y=2; false; y=3', { persistent: true }, ctx);
      expect(textOf(failed)).toBe('Exit code: 1');
      expect(textOf(await runs.run('echo $x$y; x=2; exit 7', { persistent: true }, ctx))).toBe('12\nExit code: 7');
      expect(textOf(await runs.run('IFS=3; exit 3', { persistent: true }, ctx))).toBe('Exit code: 3');
      expect(textOf(await runs.run('IFS=1; false', { persistent: true }, ctx))).toBe('Exit code: 1');
      expect(await keeps(ctx, 'echo $x; nonexistent-program 2>&1; true')).toMatch(
        /^2\n.*line 1: nonexistent-program: command not found\n$/,
      );
    });

    it('drops variables that the worker sets for each command, other options, aliases and traps', async () => {
      const ctx = await runs.session('fresh');
      await keeps(
        { ...ctx, env: { PATH: '/usr/bin:/bin', GIVEN: 'old', MINE: 'old' } },
        `MINE=changed; set -x; alias ls='echo hijacked'; trap 'echo bye' EXIT`,
      );
      expect(await keeps({ ...ctx, env: { PATH: '/usr/bin:/bin', GIVEN: 'new', MINE: 'new' } }, 'echo $GIVEN $MINE; ls -d . 2>&1')).toBe(
        'new changed\n.\n',
      );
    });

    it('lists options and aliases that a persistent shell drops, and traces only its own commands', async () => {
      const ctx = await runs.session('options');
      const said = (names: string) => `this shell does not keep ${names}: set them in each command\n`;
      expect(await keeps(ctx, "alias hi='echo hi'; set -o noclobber; shopt -s globstar")).toBe(
        said('alias hi, option globstar, option noclobber'),
      );
      expect(await keeps(ctx, 'IFS=:; set -f; exit 0')).toBe(said('option noglob'));
      expect(await keeps(ctx, 'set -euo pipefail; shopt -s extglob')).toBe('command completed with no output');
      expect(await keeps(ctx, 'set -x; true')).toBe('++ true\n');
      expect(await keeps(ctx, 'true')).toBe('command completed with no output');
    });

    it('lists descriptors that a persistent shell drops', async () => {
      const ctx = await runs.session('descriptors');
      const said = (names: string) => `this shell does not keep ${names}: set them in each command\n`;
      expect(await keeps(ctx, 'exec 3> three 7< three; echo one >&3')).toBe(said('descriptor 3, descriptor 7'));
      expect(await keeps(ctx, 'cat three; { echo two >&3; } 2> /dev/null || true')).toBe('one\n');
      expect(await keeps(ctx, 'exec {log}>> three; exit 0')).toMatch(
        /^this shell does not keep descriptor \d\d: set them in each command\n$/,
      );
      expect(await keeps(ctx, 'IFS=3; exec > three; echo three')).toBe(said('descriptor 1'));
      expect(await keeps(ctx, 'leave() { exit 0; }; exec 3> three; leave > four')).toBe(said('descriptor 3'));
    });

    it('lists no descriptor that a command of a persistent shell has closed', async () => {
      const ctx = await runs.session('closed');
      const silent = 'command completed with no output';
      expect(await keeps(ctx, 'exec 3> three; exec 3>&-; { :; } 4> four; diff <(echo a) <(echo a)')).toBe(silent);
      expect(await keeps(ctx, 'leave() { exit 0; }; leave > three')).toBe(silent);
      expect(await keeps(ctx, 'while read -r line; do exit 0; done <<< text')).toBe(silent);
    });

    it('restores the previous state of a persistent shell after a cut-off command', async () => {
      const ctx = await runs.session('cut');
      await keeps(ctx, 'x=before');
      await failureOf(runs.run('x=during; echo up; sleep 300', { persistent: true, timeout_ms: 400 }, { ...ctx, graceMs: 50 }));
      expect(await keeps(ctx, 'echo $x')).toBe('before\n');
    });

    it('hides a persistent shell from another session, and from a call that is not persistent', async () => {
      const [one, two] = [await runs.session('mine'), await runs.session('theirs')];
      await keeps(one, 'secret=canary; cd /tmp');
      expect(await keeps(two, 'echo "[$secret]"; pwd')).toBe(`[]\n${two.workspace.root}\n`);
      expect(await runs.text('echo "[$secret]"', {}, one)).toBe('[]\n');
      if (under.isolated)
        expect(
          await keeps(
            two,
            `ls "${dirname(one.workspace.root)}"; grep -rs canary / --include='*' -l --exclude-dir=proc --exclude-dir=usr; true`,
          ),
        ).toBe('theirs\n');
    });

    it('keeps content written into the state of a persistent shell inside of the sandbox', async () => {
      const ctx = await runs.session('hostile');
      const marker = newMarker();
      await keeps(ctx, 'true');
      const file = join(dirname(ctx.workspace.root), '~shell', 'hostile');
      await writeFile(
        file,
        `echo ran as $(id -u); touch ${dirname(ctx.workspace.root)}/${marker} 2>/dev/null; cat /etc/hostname 2>/dev/null | head -c 1\n#end\n`,
      );
      const text = await keeps(ctx, 'echo; echo still here');
      expect(text).toContain('still here');
      const beside = await readdir(dirname(ctx.workspace.root));
      if (under.isolated) {
        expect(text).toBe('ran as 65534\n\nstill here\n');
        expect(beside).not.toContain(marker);
      }
    });

    it('drops a partial or endless state of a persistent shell, and reports one that was too large', async () => {
      const ctx = await runs.session('large');
      await keeps(ctx, 'x=small');
      expect(await keeps(ctx, 'x=large; big=$(head -c 300000 /dev/zero | tr "\\0" x)')).toContain("this command's are not kept");
      expect(await keeps(ctx, 'echo $x ${#big}')).toBe('small 0\n');
      await keeps(ctx, 'x=replaced; exec true');
      expect(await keeps(ctx, 'echo $x')).toBe('small\n');
      expect(await readdir(join(dirname(ctx.workspace.root), '~shell'))).not.toContainEqual(expect.stringContaining('large~'));
    });

    it('streams output of a persistent shell, and kills its background processes', async () => {
      const ctx = await runs.session('streaming');
      const running = runs.run('echo up; until [ -e go ]; do sleep 0.02; done; sleep 300 & echo done', { persistent: true }, ctx);
      await eventually(() => ctx.updatedText() === 'up\n');
      await runs.run('touch go', {}, ctx);
      expect(textOf(await running)).toBe('up\ndone\n');
    });

    it('refuses a persistent shell in a call without a session', async () => {
      expect(await failureOf(runs.run('pwd', { persistent: true }))).toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining('sessionId'),
      });
    });
  });
}
