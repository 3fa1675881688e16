import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { bubblewrapProfile } from '../isolation/bubblewrap-profile.js';
import { DEFAULT_LIMITS } from '../isolation/default-limits.js';
import { findExecutable } from './find-executable.js';
import { openControlGroup, controlGroupsFolder } from './control-groups.js';
import { eventually, isAlive } from '../testing/process.fixture.js';
import { runProcess } from './run-process.js';
import { startProcess } from './start-process.js';

const PROCESSES = 8;
const MOST_THREADS = 64;
const STARTED = 500;
/** Starts many more than may be, faster than the watchdog looks; `sh` does not try again when the kernel refuses. */
const BURST = `i=0; while [ $i -lt ${STARTED} ]; do i=$((i+1)); sleep 5 & done; wait`;
const OTHER_USER = 65_534;

const folder = controlGroupsFolder('pids');
const memoryFolder = controlGroupsFolder('memory');
const bwrap = findExecutable(['bwrap']) ?? 'bwrap';
/** Root becomes an ordinary user first; any other user is one. */
const isRoot = process.getuid?.() === 0;
const asOrdinaryUser = isRoot ? ['setpriv', '--reuid', String(OTHER_USER), '--regid', String(OTHER_USER), '--clear-groups', '--'] : [];

const run = (command: string, limits = { ...DEFAULT_LIMITS, processes: PROCESSES }) =>
  runProcess(
    { file: '/bin/sh', args: ['-c', command], cwd: tmpdir(), env: { PATH: '/usr/bin:/bin' }, limits },
    { signal: AbortSignal.timeout(20_000), graceMs: 0 },
  );

function asUser(words: readonly string[]): { status: number | null; stderr: string } {
  const [file = '', ...args] = [...asOrdinaryUser, ...words];
  return spawnSync(file, args, { encoding: 'utf8', timeout: 20_000, cwd: '/' });
}

describe('the memory of a command', () => {
  const memoryBytes = 67_108_864;
  const most = memoryFolder === undefined ? Infinity : (memoryBytes * 17) / 16;
  const takes = 'head -c 8G /dev/zero | tail -c 8G > /dev/null';

  it.each([takes, `(${takes}); exec sleep 60`])(
    'limits the memory of a command by the kernel if a control group can be created: %s',
    async (command) => {
      const { exit, leftAlive } = await run(command, { ...DEFAULT_LIMITS, memoryBytes });
      expect([exit, leftAlive]).toEqual([
        { how: 'over_limit', overrun: { limit: 'memory', used: expect.any(Number), allowed: memoryBytes } },
        [],
      ]);
      expect(exit.how === 'over_limit' && exit.overrun.used).toBeLessThanOrEqual(most);
    },
  );
});

describe('the CPU time of a command', () => {
  const counts = (loops: number) => `i=0; while [ $i -lt ${loops} ]; do i=$((i+1)); done`;

  it('measures the CPU time of all processes of a command, and nothing without a control group', async () => {
    const [little, much] = [await run('true'), await run(`setsid -w sh -c '${counts(200_000)}'; exit 3`)];
    if (controlGroupsFolder('cpuacct') === undefined) return expect([little.cpuMs, much.cpuMs]).toEqual([undefined, undefined]);
    expect(little.cpuMs).toBeGreaterThan(0);
    expect(much.cpuMs).toBeGreaterThan(little.cpuMs ?? Infinity);
    expect(
      await runProcess({ file: '/bin/true', args: [], cwd: tmpdir(), env: {} }, { signal: AbortSignal.timeout(20_000), graceMs: 0 }),
    ).not.toHaveProperty('cpuMs');
  });
});

describe('the CPU time of a program that serves', () => {
  it('measures the CPU time of a running program repeatedly, including the end, and nothing without a control group', async () => {
    const script = 'while read n; do i=0; while [ $i -lt $n ]; do i=$((i+1)); done; echo; done';
    const place = { cwd: tmpdir(), env: { PATH: process.env['PATH'] ?? '' }, limits: DEFAULT_LIMITS };
    const program = await startProcess({ file: '/bin/sh', args: ['-c', script], ...place }, 0);
    const loops = async (count: number) => {
      program.stdin.write(`${count}\n`);
      await once(program.stdout, 'data');
    };
    const pieces: (number | undefined)[] = [];
    for (const count of [200_000, 1]) {
      await loops(count);
      pieces.push(program.takeCpuMs());
    }
    await loops(200_000);
    await program.stop();
    pieces.push(program.takeCpuMs(), program.takeCpuMs());
    if (controlGroupsFolder('cpuacct') === undefined) return expect(pieces).toEqual(pieces.map(() => undefined));
    const [much = 0, little = 0, last = 0, none] = pieces;
    expect([much > little, last > little, none]).toEqual([true, true, 0]);
  });
});

describe('the number of processes of a command', () => {
  it('limits the number of processes by a control group, also for root, else by inspecting the tree', async () => {
    const { exit, stderr } = await run(BURST);
    const used = exit.how === 'over_limit' ? exit.overrun.used : 0;
    const most = folder === undefined ? STARTED : MOST_THREADS + 1;
    expect([exit.how === 'over_limit' || stderr.text.includes('fork'), used <= most]).toEqual([true, true]);
    const alone = await run(`(${BURST}) 2>&1 | head -c 300`, { ...DEFAULT_LIMITS, processes: PROCESSES });
    expect(alone.leftAlive).toEqual([]);
  });

  it('ends processes that removed their mark, if a control group can be created', async () => {
    if (folder === undefined) return;
    const file = join(tmpdir(), `unmarked-${process.pid}`);
    const hides = `setsid prlimit --rttime=1000000:1000000 sh -c 'echo $$ > ${file}; exec sleep 600' > /dev/null 2>&1 &`;
    const { exit, leftAlive } = await run(`${hides} until [ -s ${file} ]; do :; done; cat ${file}`);
    expect([exit, leftAlive]).toEqual([{ how: 'exited', code: 0 }, []]);
    expect(isAlive(Number(readFileSync(file, 'utf8')))).toBe(false);
    rmSync(file);
  });

  it('leaves no control group behind, and creates none on a system without permission', async () => {
    const group = openControlGroup({ ...DEFAULT_LIMITS, processes: PROCESSES });
    expect(group === undefined).toBe(folder === undefined);
    const own = () =>
      [...new Set([folder, memoryFolder])]
        .flatMap((it) => (it === undefined ? [] : readdirSync(it)))
        .filter((name) => name.startsWith(`toolyard-${process.pid}-`));
    expect(own()).toHaveLength(new Set([folder, memoryFolder].filter((it) => it !== undefined)).size);
    await group?.close();
    expect(own()).toEqual([]);
    await run('true');
    await eventually(() => own().length === 0);
  });

  it('deletes control groups of ended processes, and reuses no group of an earlier process with its pid', async () => {
    if (folder === undefined) return expect(openControlGroup({ ...DEFAULT_LIMITS, processes: PROCESSES })).toBeUndefined();
    const groups = (prefix: string) => readdirSync(folder).filter((name) => name.startsWith(prefix));
    // Two groups as of a killed process with the pid of this one; and one with a pid that no process has.
    const stale = [`toolyard-${process.pid}-1-1`, `toolyard-${process.pid}-1-2`, 'toolyard-99999999-1-1'];
    for (const name of stale) mkdirSync(join(folder, name), { recursive: true });
    // Loads the module again, like a starting process.
    const again: string = './control-groups.js?again';
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same module
    const { openControlGroup: openAfterStart } = (await import(again)) as { openControlGroup: typeof openControlGroup };
    const group = openAfterStart({ ...DEFAULT_LIMITS, processes: PROCESSES });
    expect(group?.commandPrefix.some((word) => stale.some((name) => word.endsWith(name)))).toBe(false);
    expect(stale.filter((name) => groups('toolyard-').includes(name))).toEqual([]);
    await group?.close();
  });

  it('limits the number of processes by the kernel for an ordinary user, inside and outside of bubblewrap', () => {
    const profile = bubblewrapProfile({
      workspace: '/usr/share',
      cwd: '/usr/share',
      network: 'none',
      readable: [],
      limits: { ...DEFAULT_LIMITS, processes: PROCESSES },
      hardened: false,
      uid: OTHER_USER,
    });
    const isolates = asUser([bwrap, '--unshare-all', '--ro-bind', '/', '/', '/usr/bin/true']).status === 0;
    // Words that limit the processes are between those for bwrap and the command.
    const words = isolates ? [bwrap, ...profile] : profile.slice(profile.indexOf('--') + 1);
    const { stderr, status } = asUser([...words, '/bin/sh', '-c', BURST]);
    expect([stderr, status]).toEqual([expect.stringMatching(/fork/i), expect.any(Number)]);
  });
});
