import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const MISSING = 'libs/limits/src/no-such-file.spec.ts';
let folder: string;

const test = (status: string, title: string, message = '') => ({
  status,
  title,
  fullName: title,
  failureMessages: message ? [message] : [],
});
const file = (path: string, status: string, ...assertionResults: unknown[]) => ({
  name: resolve(path),
  status,
  message: 'the file cannot be loaded',
  assertionResults,
});

/** Last lines of the gate for these results of Jest. */
function verdict(tests: unknown[], thorough: unknown[], ...failedParts: string[]) {
  writeFileSync(join(folder, 'tests.json'), JSON.stringify({ testResults: tests }));
  writeFileSync(join(folder, 'thorough tests.json'), JSON.stringify({ testResults: thorough }));
  const { status, stdout } = spawnSync(process.execPath, ['.ci/verdict.mjs', folder, ...failedParts], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

const passing = file('a.spec.ts', 'passed', test('passed', 'a'), test('passed', 'b'));

describe('the verdict of the gate', () => {
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'toolyard-verdict-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('counts a file that passes alone as passed and lists its first failure as unsteady', () => {
    const failing = file(
      'test/time-box.spec.ts',
      'failed',
      test('failed', 'is odd', '\u001b[31mError: late\u001b[0m\n  at x'),
      test('passed', 'c'),
    );
    const { status, lines } = verdict([passing, failing], [passing], 'tests');
    expect(lines.slice(-2)).toEqual(['unsteady test/time-box.spec.ts › is odd: Error: late', '7 passed, 0 failed']);
    expect(status).toBe(0);
  });

  it('counts a file that fails twice, and a failed part, as failed', () => {
    const { status, lines } = verdict([passing, file(MISSING, 'failed')], [passing], 'lint', 'tests');
    expect(lines.slice(-3)).toEqual(['failed lint', `failed ${MISSING}: the file cannot be loaded`, '4 passed, 2 failed']);
    expect(status).toBe(1);
  });

  it('lists files that did not fit into the time as not run', () => {
    const { status, lines } = verdict([passing], [passing, file('b.spec.ts', 'skipped', test('pending', 'not run'))]);
    expect(lines).toEqual(['not run: b.spec.ts', '4 passed, 0 failed']);
    expect(status).toBe(0);
  });

  it('fails when Jest ended without a result or with an error beside its files', () => {
    expect(verdict([], [passing]).lines).toEqual(['failed tests: no test passed', '2 passed, 1 failed']);
    expect(verdict([passing], [passing], 'thorough tests')).toEqual({
      status: 1,
      lines: ['failed thorough tests: Jest ended with an error', '4 passed, 1 failed'],
    });
  });
});
