import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const LOGGER = fileURLToPath(new URL('../../../../dist/libs/platform/src/log/logger.js', import.meta.url));

/** Program that logs an error with a secret, an escape sequence and two lines. */
const PROGRAM = `
import { createLogger } from ${JSON.stringify(LOGGER)};
const log = createLogger({ level: 'info', format: process.env.FORMAT, base: { app: 'gateway', name: 'g-1' }, secrets: ['pass"word-1'] });
log.warn({ err: new TypeError('no \\u001b[2Jsuch file\\nsecond line'), key: 'pass"word-1', callId: 'c1' }, 'the call %s failed with pass"word-1', 'c1');
console.log('loaded: ' + Object.keys((await import('node:module')).default._cache).some((file) => file.includes('pino-pretty')));
`;

const ENV = { PATH: process.env['PATH'] ?? '', TERM: 'xterm', TZ: 'UTC' };
const WORDS = ['--input-type=module', '--eval', PROGRAM];

function inPipe(env: Readonly<Record<string, string>>): string[] {
  return linesOf(spawnSync(process.execPath, WORDS, { env: { ...ENV, ...env }, encoding: 'utf8' }).stdout);
}

/** Runs the program in a terminal made by `script` of util-linux. */
function onTerminal(env: Readonly<Record<string, string>>): string[] {
  const quoted = [process.execPath, ...WORDS].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  return linesOf(spawnSync('script', ['-qfec', quoted, '/dev/null'], { env: { ...ENV, ...env }, encoding: 'utf8', input: '' }).stdout);
}

function linesOf(text: string): string[] {
  return text.trim().split(/\r?\n/);
}

const PRETTY =
  /^\[\d\d:\d\d:\d\d\] WARN: gateway: the call c1 failed with \[REDACTED\] \{"err":"TypeError: no .*such file ↵ second line","key":"\[REDACTED\]","callId":"c1"\}$/;

describe('the log of a process', () => {
  it('writes one readable line an event on a terminal, with secrets redacted and without escape sequences of texts', () => {
    const [line = '', loaded] = onTerminal({ FORMAT: 'auto', NO_COLOR: '1' });
    expect(line).toMatch(PRETTY);
    expect(line).not.toContain('\u001b');
    expect(loaded).toBe('loaded: true');
  });

  it('colours the log on a terminal', () => {
    expect(onTerminal({ FORMAT: 'auto' })[0]).toContain('\u001b[33mWARN');
  });

  it('writes the log as JSON in a pipe and in CI, without pino-pretty', () => {
    for (const [line = '', loaded] of [inPipe({ FORMAT: 'auto' }), onTerminal({ FORMAT: 'auto', CI: 'true' })]) {
      expect(JSON.parse(line)).toMatchObject({ level: 40, app: 'gateway', name: 'g-1', callId: 'c1', err: { type: 'TypeError' } });
      expect(loaded).toBe('loaded: false');
      expect(line).not.toContain('word-1');
    }
  });

  it('writes the log in the form of LOG_FORMAT, for any output', () => {
    expect(inPipe({ FORMAT: 'pretty' })[0]).toMatch(PRETTY);
    expect(JSON.parse(onTerminal({ FORMAT: 'json' })[0] ?? '')).toMatchObject({ app: 'gateway' });
  });
});
