import { describe, expect, it } from '@jest/globals';
import type { Call, ToolDescriptor } from '#contracts';
import { isShownWhole } from './shown-whole.js';

const SHELL: Pick<ToolDescriptor, 'input' | 'subjects'> = {
  input: { properties: { background: { type: 'boolean', default: false } } },
  subjects: [{ kind: 'command', argument: 'command' }],
};

const isWhole = (line: string, args: Call['arguments'], secret = false) =>
  isShownWhole(line, { arguments: args, ...(secret && { argumentsRedacted: true }) }, SHELL);

describe('a line says all that a call does', () => {
  it('shows a short, plain, only argument as the whole call', () => {
    expect(isWhole('$ npm test', { command: 'npm test' })).toBe(true);
    expect(isWhole('$ npm test', { command: 'npm test', background: false })).toBe(true);
    expect(isWhole('text: hello', { text: 'hello' })).toBe(true);
  });

  it.each([
    ['many spaces', `npm test${' '.repeat(60)}; x`],
    ['two spaces', 'npm test  ; x'],
    ['a space at the end', 'npm test '],
    ['a tab', 'npm\ttest'],
    ['a second line', 'npm test\nx'],
    ['a hidden character', 'npm test\u200b'],
    ['the other direction', 'npm \u202etest'],
    ['a letter that looks like another', 'npm t\u0435st'],
    ['more than fits', `npm test ${'x'.repeat(80)}`],
  ])('shows no line with %s as the whole call', (_case, command) => {
    expect(isWhole(`$ ${command}`, { command })).toBe(false);
    expect(isWhole('$ npm test', { command })).toBe(false);
  });

  it('shows no line as the whole call if there are further arguments or a secret, or if the line is about something else', () => {
    expect(isWhole('$ npm test', { command: 'npm test', cwd: '/etc' })).toBe(false);
    expect(isWhole('$ npm test', { command: 'npm test', background: true })).toBe(false);
    expect(isWhole('$ npm test', { command: 'npm test' }, true)).toBe(false);
    expect(isWhole('$ npm', { command: 'npm test' })).toBe(false);
    expect(isWhole('null', null)).toBe(false);
    expect(isWhole('options: {}', { options: {} })).toBe(false);
  });
});
