import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { errorResultFingerprint, fingerprintOf, messageTemplate } from './fingerprint.js';
import { programOf } from './program.js';

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const path = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '/', './', '../'), fc.array(name, { minLength: 2, maxLength: 4 }))
    .map(([root, names]) => root + names.join('/')),
  fc.tuple(name, fc.constantFrom('md', 'ts', 'tar.gz', 'mp4', 'json')).map(([stem, extension]) => `${stem}.${extension}`),
);

describe('the template of a message', () => {
  it('makes the same template of messages that differ in a path only', () => {
    fc.assert(
      fc.property(path, (any) => {
        expect(messageTemplate(`File not found: ${any}. Use glob (in ${any})`)).toBe('File not found: <path>. Use glob (in <path>)');
      }),
    );
  });

  it('keeps words in a template, also before a full stop, and keeps plain numbers', () => {
    expect(messageTemplate('It ended. Then 3.5 s later, again, at 10.0.0.1:80')).toBe('It ended. Then <n> s later, again, at <n>');
  });
});

describe('the fingerprint of a failed command', () => {
  const of = (command: string, note: string) => errorResultFingerprint('shell', note, JSON.stringify({ command }).slice(0, 160));

  it('computes one fingerprint for the same last words of a program, for any numbers, paths and exit codes', () => {
    const first = of('npm test', 'exit 1 · 3 failed in /w/a.ts after 12 s');
    expect(of('cd /w && CI=1 npm run check', 'exit 2 · 44 failed in /w/b/c.ts after 3 s')).toBe(first);
    expect(of('pnpm test', 'exit 1 · 3 failed in /w/a.ts after 12 s')).not.toBe(first);
    expect(of('npm test', 'exit 1 · no such script')).not.toBe(first);
  });

  it('computes one fingerprint per exit code of a silent program', () => {
    const silent = [of('a', 'exit 1'), of('a', 'exit 2'), of('b', 'exit 1'), of('a', 'signal SIGSEGV')];
    expect(new Set(silent).size).toBe(4);
    expect(of('a x', 'exit 1')).toBe(silent[0]);
  });

  it('computes one fingerprint for all calls of a tool without program and last words', () => {
    expect(errorResultFingerprint('t', 'exit 7', '{"a":1}')).toBe(fingerprintOf('t', 'exit 7', ''));
    expect(errorResultFingerprint('t', 'No such page', '{"a":1}')).toBe(fingerprintOf('t', '', 'No such page'));
  });

  it.each([
    ['npm test', 'npm'],
    ['  FOO=1 BAR="x" ./bin/run.sh --a', 'run.sh'],
    ['set -e\ncd a/b && sudo timeout 10s make -j', 'make'],
    ['(curl -s x | tar x)', 'curl'],
    ['export A=1; python3 -c "x"', 'python3'],
    ['', ''],
  ])('reads the program of %j as %j', (command, program) => {
    expect(programOf(JSON.stringify({ command }))).toBe(program);
    expect(programOf(JSON.stringify({ other: 1, command, x: 2 }))).toBe(program);
  });

  it('reads the program of arguments cut at any place', () => {
    const whole = JSON.stringify({ command: 'a\u0001 "x" \\ \n' });
    fc.assert(fc.property(fc.nat(whole.length), (end) => void programOf(whole.slice(0, end))));
  });
});
