import { expect, it } from '@jest/globals';
import { lastLines } from './last-lines.js';
import { linesOf } from './log/terminal-text.js';

const last = (text: string) => lastLines(linesOf(text), 3);

it('shows the last lines of standard error if a command wrote to both streams', () => {
  expect(last('stdout:\none\ntwo\nthree\n\nstderr:\nmain.c:7: missing semicolon\n\nExit code: 2\n')).toEqual([
    'main.c:7: missing semicolon',
  ]);
  expect(last('stdout:\none\n\nstderr:\na\nb\nc\nd\nExit code: 2')).toEqual(['b', 'c', 'd']);
});

it('shows the last lines of the output without standard error', () => {
  expect(last('one\n\ntwo\n \nExit code: -1\nSignal: SIGKILL')).toEqual(['one', 'two']);
  expect(last('stderr:\none')).toEqual(['stderr:', 'one']);
  expect(last('\u001b[31mred\u001b[0m\n')).toEqual(['red']);
  expect(last('Exit code: 3')).toEqual([]);
});
