import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SupervisedChild } from './supervised-child.js';

const WITHIN_MS = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'toolyard-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A child that runs this script; its lines until the one with the last text. */
async function linesOf(script: string, lastText: string, mostFailures?: number): Promise<string[]> {
  const logPath = join(folder, 'child.log');
  const launch = () => {
    const log = openSync(logPath, 'a');
    try {
      return spawn(process.execPath, ['-e', script], { stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
  };
  const lines: string[] = [];
  let done: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (done = resolve));
  const tell = (line: string) => {
    lines.push(line);
    if (line.includes(lastText)) done();
  };
  const options = { name: 'helper', launch, stopSignal: 'SIGTERM', logPath, meanwhile: 'Calls go on', tell } as const;
  const child = new SupervisedChild({ ...options, ...(mostFailures === undefined ? {} : { mostFailures }) });
  await child.firstStart(() => Promise.resolve());
  const late = setTimeout(() => done(), WITHIN_MS);
  await over;
  clearTimeout(late);
  await child.stop();
  return lines;
}

describe('a child that ends at its start', () => {
  const FAILS = `console.error("{}\\nX_MS: expected 1 to 9\\n    at x (y.js:1)"); process.exit(1)`;

  it('restarts a child with its message, and not for ever', async () => {
    expect(await linesOf(FAILS, 'not restarted', 3)).toEqual([
      'The private helper exited; restarting it in 100 ms. Calls go on. It said: X_MS: expected 1 to 9',
      'The private helper exited; restarting it in 200 ms. Calls go on. It said: X_MS: expected 1 to 9',
      'The private helper ended 3 times at its start and is not restarted. Calls go on. It said: X_MS: expected 1 to 9',
    ]);
  });

  it('restarts a child without limit if no number is given, and repeats no message of an earlier run', async () => {
    const lines = await linesOf(FAILS, '800 ms');
    expect(lines).toHaveLength(4);
    expect(await linesOf('process.exit(1)', '200 ms')).toEqual([
      'The private helper exited; restarting it in 100 ms. Calls go on.',
      'The private helper exited; restarting it in 200 ms. Calls go on.',
    ]);
  });
});
