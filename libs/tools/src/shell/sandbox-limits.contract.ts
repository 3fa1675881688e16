import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../sandbox/src/testing/process.fixture.js';
import { failureOf, newMarker, processesWith, ShellRuns, textOf, type SandboxUnderTest } from '../testing/shell-runs.js';

const MIB = 1_048_576;
/** A bomb in a test doubles only so often (511 processes), so that a limit that fails costs a red test and not the machine. */
const DOUBLINGS = 8;

/** Limits of a hostile or runaway command in any sandbox: each ends with a typed error, leaves nothing, and its neighbours continue. */
export function sandboxLimitsContract(name: string, under: SandboxUnderTest): void {
  describe(`a runaway command in the sandbox ${name}`, () => {
    let runs: ShellRuns;
    beforeAll(async () => void (runs = await ShellRuns.open(under)));
    afterAll(() => runs.close());

    /** Runs `action` beside another command and shows that this one was not disturbed. */
    async function besideNeighbour<T>(action: () => Promise<T>): Promise<T> {
      const ctx = runs.context();
      const gate = newMarker();
      const neighbour = runs.run(`echo up; until [ -e ${gate} ]; do sleep 0.05; done; echo survived`, {}, ctx);
      await eventually(() => ctx.updatedText() === 'up\n');
      const result = await action();
      await runs.run(`touch ${gate}`);
      expect(textOf(await neighbour)).toBe('up\nsurvived\n');
      return result;
    }

    it('kills a fork bomb whole', async () => {
      const marker = newMarker();
      const bomb = `: ${marker}; bomb() { [ $1 -eq 0 ] || { bomb $(($1 - 1)) | bomb $(($1 - 1)) & }; sleep 300; }; bomb ${DOUBLINGS}`;
      const failure = await besideNeighbour(() => failureOf(runs.run(bomb, {}, runs.context(), { processes: 48 })));
      expect(failure).toMatchObject({ code: 'tool_failed', options: { killed: true } });
      expect(failure.message).toMatch(/^Command had \d+ processes at once, more than the 48 it may, and was killed/);
      expect(processesWith(marker)).toEqual([]);
    });

    it('kills a whole fork bomb, also in sessions of its own', async () => {
      const marker = newMarker();
      const bomb = `: ${marker}; export marker=${marker}; bomb() { trap '' TERM; [ $1 -eq 0 ] || { setsid bash -c 'bomb $1' ${marker} $(($1 - 1)) & setsid bash -c 'bomb $1' ${marker} $(($1 - 1)) & }; sleep 300; }; export -f bomb; bomb ${DOUBLINGS}`;
      const failure = await besideNeighbour(() => failureOf(runs.run(bomb, {}, runs.context(), { processes: 48 })));
      expect(failure.message).toMatch(/^Command had \d+ processes at once/);
      expect(processesWith(marker)).toEqual([]);
    });

    it('kills a command long before it takes 8 GB', async () => {
      const marker = newMarker();
      const greedy = `: ${marker}; head -c 8G /dev/zero | tail -c 8G > /dev/null`;
      const failure = await besideNeighbour(() => failureOf(runs.run(greedy, {}, runs.context(), { memoryBytes: 128 * MIB })));
      expect(failure).toMatchObject({ code: 'tool_failed', options: { killed: true } });
      expect(failure.message).toMatch(/^Command used [\d,]+ MiB of memory, more than the 128 MiB it may, and was killed/);
      expect(processesWith(marker)).toEqual([]);
    });

    it('charges a command once for memory that its processes share', async () => {
      const sharing = `x=$(head -c 30000000 /dev/zero | tr "\\0" x); for i in 1 2 3 4 5 6; do (sleep 0.5; echo \${#x}) & done; wait`;
      const output = await runs.run(sharing, {}, runs.context(), { memoryBytes: 150 * MIB });
      expect(textOf(output)).toBe('30000000\n'.repeat(6));
    });

    it('kills a command that never stops writing at its timeout, and delays no other command', async () => {
      const marker = newMarker();
      const failure = await besideNeighbour(() => failureOf(runs.run(`yes ${marker}`, { timeout_ms: 800 })));
      expect(failure).toMatchObject({ code: 'run_timeout' });
      expect(processesWith(marker)).toEqual([]);
    });

    it('ends a command that spins by its processor time', async () => {
      const output = await runs.run('while :; do :; done', {}, runs.context(), { cpuSeconds: 1 });
      expect(output).toMatchObject({ isError: true });
      expect(textOf(output)).toContain('The command used the 1 seconds of processor time');
    });

    it('refuses a command a file larger than it may write, or more open files', async () => {
      const large = await runs.run('head -c 3000000 /dev/zero > large; exit $?', {}, runs.context(), { fileBytes: MIB });
      expect(large).toMatchObject({ isError: true });
      expect(textOf(large)).toContain('larger than the 1 MiB');
      expect(await runs.text('stat -c %s large')).toBe(`${MIB}\n`);
      expect(
        await runs.text('for i in $(seq 100); do exec {fd}<file; done 2>&1 | tail -1', {}, runs.context(), { openFiles: 64 }),
      ).toContain('Too many open files');
    });

    it('leaves no grandchild of a command that called setsid, when it ends and when it is cut off', async () => {
      const [ended, cut] = [newMarker(), newMarker()];
      const daemon = (marker: string) =>
        `setsid env -i /bin/bash -c 'trap "" TERM HUP; while :; do /bin/sleep 0.1; done' ${marker} & sleep 0.2; echo started`;
      expect(await runs.text(daemon(ended))).toContain('started');
      await eventually(() => processesWith(ended).length === 0);
      const ctx = runs.context({ graceMs: 100 });
      const failure = await failureOf(runs.run(`${daemon(cut)}; sleep 300`, { timeout_ms: 1_000 }, ctx));
      expect(failure).toMatchObject({ code: 'run_timeout' });
      expect(ctx.updatedText()).toBe('started\n');
      expect(processesWith(cut)).toEqual([]);
    });
  });
}
