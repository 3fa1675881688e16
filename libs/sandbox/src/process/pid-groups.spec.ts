import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { bubblewrapProfile } from '../isolation/bubblewrap-profile.js';
import { DEFAULT_LIMITS } from '../isolation/default-limits.js';
import { findExecutable } from './find-executable.js';
import { pidGroupsFolder } from './pid-groups.js';
import { runProcess } from './run-process.js';

const PROCESSES = 8;
const MOST_THREADS = 64;
/** Starts many more than may be, faster than anybody looks; `sh` does not try again when the kernel refuses. */
const BURST = 'i=0; while [ $i -lt 500 ]; do i=$((i+1)); sleep 5 & done; wait';
const NOBODY = 65_534;

const folder = pidGroupsFolder();
const bwrap = findExecutable(['bwrap']);
const setpriv = findExecutable(['setpriv']);
const asNobody = [setpriv ?? '', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', '--'];
const canBeNobody =
  process.getuid?.() === 0 &&
  bwrap !== undefined &&
  setpriv !== undefined &&
  spawnSync(setpriv, [...asNobody.slice(1), bwrap, '--unshare-all', '--ro-bind', '/', '/', '/usr/bin/true']).status === 0;

const run = (command: string, limits = { ...DEFAULT_LIMITS, processes: PROCESSES }) =>
  runProcess(
    { file: '/bin/sh', args: ['-c', command], cwd: tmpdir(), env: { PATH: '/usr/bin:/bin' }, limits },
    { signal: AbortSignal.timeout(20_000), graceMs: 0 },
  );

describe('the number of processes of a command', () => {
  (folder === undefined ? it.skip : it)('is held by the kernel in a control group, also for root, between two looks', async () => {
    const { exit, stderr } = await run(BURST);
    const used = exit.how === 'over_limit' ? exit.overrun.used : 0;
    expect([exit.how === 'over_limit' || stderr.text.includes('fork'), used <= MOST_THREADS + 1]).toEqual([true, true]);
    // Between the looks nothing stopped it but the kernel: so many are refused as are too many.
    const alone = await run(`(${BURST}) 2>&1 | head -c 300`, { ...DEFAULT_LIMITS, processes: PROCESSES });
    expect(alone.leftAlive).toEqual([]);
  });

  (folder === undefined ? it.skip : it)('leaves no group behind', async () => {
    await run('true');
    const own = () => readdirSync(folder ?? '').filter((name) => name.startsWith(`toolyard-${process.pid}-`));
    const until = performance.now() + 5_000;
    while (own().length > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(own()).toEqual([]);
  });

  (canBeNobody ? it : it.skip)('is held by the namespace of bubblewrap for an ordinary user', () => {
    const limits = { ...DEFAULT_LIMITS, processes: PROCESSES };
    const profile = bubblewrapProfile({
      workspace: '/usr/share',
      cwd: '/usr/share',
      network: 'none',
      readable: [],
      limits,
      hardened: false,
      uid: NOBODY,
    });
    const [file, ...args] = [...asNobody, bwrap ?? '', ...profile, '/bin/sh', '-c', BURST];
    const { stderr, status } = spawnSync(file, args, { encoding: 'utf8', timeout: 20_000, cwd: '/' });
    expect([stderr, status]).toEqual([expect.stringMatching(/fork/i), expect.any(Number)]);
  });
});
