import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { processTagMethod } from './process-tag.js';
import { eventually, isAlive, pidsIn } from '../testing/process.fixture.js';
import { runProcess, type ProcessOptions } from './run-process.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'run-process-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;

function bash(script: string, options: Partial<ProcessOptions> = {}, env: Record<string, string> = {}) {
  const command = { file: '/bin/bash', args: ['-c', script], cwd: folder, env: { PATH: '/usr/bin:/bin', ...env } };
  return runProcess(command, { signal: never, graceMs: 20_000, ...options });
}

describe('runProcess', () => {
  it('returns both streams and the exit code of a process', async () => {
    const report = await bash('echo out; echo err >&2; exit 7');
    expect(report.exit).toEqual({ how: 'exited', code: 7 });
    expect([report.stdout.text, report.stderr.text]).toEqual(['out\n', 'err\n']);
    expect(report.leftAlive).toEqual([]);
  });

  it('reports the signal that ended a program', async () => {
    expect((await bash('kill -USR1 $$')).exit).toEqual({ how: 'signalled', signal: 'SIGUSR1' });
  });

  it('shows the child only the environment it was given, and no input [PP-103]', async () => {
    process.env['RUN_PROCESS_SECRET'] = 'canary';
    const report = await bash('env; cat; echo "cat ended"', {}, { GIVEN: 'yes' });
    delete process.env['RUN_PROCESS_SECRET'];
    expect(report.stdout.text).toContain('GIVEN=yes\n');
    expect(report.stdout.text).not.toContain('canary');
    expect(report.stdout.text).not.toContain('TOOLYARD');
    expect(report.stdout.text).toContain('cat ended');
  });

  it('hands text on while the program still runs', async () => {
    const seen: string[] = [];
    const gate = join(folder, 'gate');
    const run = bash(`echo first; until [ -e ${gate} ]; do sleep 0.02; done; echo second`, { onText: (_, text) => seen.push(text) });
    await eventually(() => seen.join('') === 'first\n');
    await bash(`touch ${gate}`);
    expect((await run).stdout.text).toBe('first\nsecond\n');
    expect(seen.join('')).toBe('first\nsecond\n');
  });

  it('puts characters together that were split over writes, and replaces invalid bytes', async () => {
    const report = await bash(`printf '\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80'; sleep 0.1; printf 'a\\xffb\\xe2\\x82'`);
    expect(report.stdout.text).toBe('😀a\ufffdb\ufffd');
  });

  it('keeps output within the limit, cut between characters, and counts everything [EX-42]', async () => {
    const report = await bash(`printf 'aé€😀'`, { captureBytes: 8 });
    expect(report.stdout).toEqual({ text: 'aé€', tail: '😀', bytes: 10, shownBytes: 10, truncated: true, hasGap: false });
  });

  it('drains 100 MB of output without keeping them [EX-42]', async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    const report = await bash('head -c 100000000 /dev/zero | tr "\\0" x');
    clearInterval(timer);
    expect(report.exit).toEqual({ how: 'exited', code: 0 });
    expect(report.stdout).toMatchObject({ bytes: 100_000_000, truncated: true });
    expect(report.stdout.text.length).toBe(1_048_576);
    expect(report.stdout.tail.length).toBeLessThan(200_000);
    expect(peak - before).toBeLessThan(64 * 1_048_576);
  });

  it('keeps the end of output beyond the limit', async () => {
    const report = await bash('seq 1 400000; echo "the end" >&2; echo "FAILED: 1"');
    const { text, tail, bytes, truncated, hasGap } = report.stdout;
    expect([truncated, hasGap, text.startsWith('1\n2\n'), tail.endsWith('\n399999\n400000\nFAILED: 1\n')]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(Buffer.byteLength(text) + Buffer.byteLength(tail)).toBeLessThan(bytes);
    expect(report.stderr).toEqual({ text: 'the end\n', tail: '', bytes: 8, shownBytes: 8, truncated: false, hasGap: false });
  });

  it('stops a process in the middle of endless output', async () => {
    const report = await bash('yes', { signal: AbortSignal.timeout(300) });
    expect(report.exit.how).toBe('stopped');
    expect(report.stdout.text.length).toBe(1_048_576);
  });

  it('explains why a program could not start', async () => {
    const command = { file: '/bin/bash', args: [], cwd: folder, env: {} };
    const start = (change: object) => runProcess({ ...command, ...change }, { signal: never, graceMs: 0 });
    await expect(start({ file: '/nonexistent/program' })).rejects.toMatchObject({ name: 'ProcessStartError', reason: 'no_program' });
    await expect(start({ cwd: '/nonexistent' })).rejects.toMatchObject({ reason: 'no_folder' });
    await expect(start({ args: ['-c', 'x'.repeat(200_000)] })).rejects.toMatchObject({ reason: 'too_long' });
    await expect(start({ args: ['-c', 'a\0b'] })).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('starts no process when it is aborted before', async () => {
    const reason = new Error('too late');
    await expect(bash(`touch ${folder}/started`, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(readFile(join(folder, 'started'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('what a run leaves behind', () => {
  it('ends the whole group of an aborted run by SIGTERM [EX-25]', async () => {
    const pids = join(folder, 'group');
    const abort = new AbortController();
    const run = bash(`sleep 300 & echo $! >> ${pids}; sleep 300 & echo $! >> ${pids}; wait`, { signal: abort.signal });
    const children = await eventually(() => pidsIn(pids, 2));
    expect(children.every(isAlive)).toBe(true);
    abort.abort();
    const report = await run;
    expect(report.exit.how).toBe('stopped');
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('kills a run that ignores SIGTERM after the grace [EX-25]', async () => {
    const pids = join(folder, 'stubborn');
    const abort = new AbortController();
    const run = bash(`trap '' TERM; echo $$ >> ${pids}; while :; do sleep 0.05; done`, { signal: abort.signal, graceMs: 300 });
    const children = await eventually(() => pidsIn(pids, 1));
    abort.abort();
    const { exit } = await run;
    expect(exit.how).toBe('killed');
    expect('tookMs' in exit && exit.tookMs).toBeGreaterThanOrEqual(295);
    expect('tookMs' in exit && exit.tookMs).toBeLessThan(30_000);
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('kills a setsid grandchild that emptied its environment and holds the pipes', async () => {
    const pids = join(folder, 'daemon');
    const began = performance.now();
    const report = await bash(
      `setsid env -i /bin/bash -c 'echo $$ >> ${pids}; exec sleep 300' & until [ -s ${pids} ]; do sleep 0.01; done; echo done`,
    );
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(report.exit).toEqual({ how: 'exited', code: 0 });
    expect(report.stdout.text).toBe('done\n');
    const [daemon = 0] = await eventually(() => pidsIn(pids, 1));
    // Shows the documented gap on machines without resource-limit marks: an emptied environment hides a process.
    expect(isAlive(daemon)).toBe(processTagMethod().kind !== 'rlimit');
  });

  it('leaves no daemon that detached twice, when the run is aborted', async () => {
    const pids = join(folder, 'twice');
    const abort = new AbortController();
    const run = bash(
      `(setsid bash -c 'setsid bash -c "trap \\"\\" TERM; echo \\$\\$ >> ${pids}; while :; do sleep 0.05; done" & ' &) ; sleep 300`,
      { signal: abort.signal, graceMs: 100 },
    );
    const daemons = await eventually(() => pidsIn(pids, 1));
    abort.abort();
    expect((await run).exit.how).toBe('killed');
    expect(daemons.filter(isAlive)).toEqual([]);
  });

  it('kills a tree that keeps growing', async () => {
    const pids = join(folder, 'growing');
    const abort = new AbortController();
    const run = bash(`f() { trap '' TERM; echo $BASHPID >> ${pids}; sleep 0.1; f & f & wait; }; f`, { signal: abort.signal, graceMs: 50 });
    await eventually(() => pidsIn(pids, 4));
    abort.abort();
    expect((await run).leftAlive).toEqual([]);
    expect((await eventually(() => pidsIn(pids, 1))).filter(isAlive)).toEqual([]);
  });

  it('touches no processes of another run', async () => {
    const abort = new AbortController();
    const gate = join(folder, 'other-gate');
    const other = bash(`until [ -e ${gate} ]; do sleep 0.02; done; echo survived`);
    const run = bash('sleep 300', { signal: abort.signal });
    abort.abort();
    await run;
    await bash(`touch ${gate}`);
    expect((await other).stdout.text).toBe('survived\n');
  });
});
