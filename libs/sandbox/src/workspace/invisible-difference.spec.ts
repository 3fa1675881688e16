import { describe, expect, it } from '@jest/globals';
import { ToolError } from '#tool-sdk';
import { applyEdit } from './text-edit.js';

const messageOf = (text: string, old_text: string): string => {
  try {
    applyEdit(text, { old_text, new_text: 'new', replace_all: false }, 'a', { redact: (it) => it });
    return '';
  } catch (error) {
    return error instanceof ToolError ? error.message : String(error);
  }
};

describe('an edit whose old text only looks like the file', () => {
  it.each([
    [
      'the task list in\u00a0current\n',
      'the task list in current',
      'line 1 has U+00A0 at column 17 (no-break space), where old_text has U+0020 (space)',
    ],
    ['it\u2019s', "it's", "line 1 has U+2019 at column 3 (\u2019), where old_text has U+0027 (')"],
    [
      "say 'x'",
      'say \u2018x\u2019',
      "line 1 has U+0027 at column 5 ('), where old_text has U+2018 (\u2018); line 1 has U+0027 at column 7",
    ],
    ['\u201cx\u201d', '"x"', 'line 1 has U+201C at column 1 (\u201c), where old_text has U+0022 (")'],
    ['a\n\tif (x)\n', '    if (x)', 'line 2 has U+0009 at column 1 (tab), where old_text has 4 times U+0020 (space)'],
    ['a\n    if (x)\n', '\tif (x)', 'line 2 has 4 times U+0020 at column 1 (space), where old_text has U+0009 (tab)'],
    ['one  \ntwo\n', 'one\ntwo', 'line 1 has 2 times U+0020 at column 4 (space), where old_text has nothing'],
    ['one\ntwo\n', 'one \ntwo', 'line 1 has nothing at column 4, where old_text has U+0020 (space)'],
    ['one\ntwo\n', 'one\r\ntwo', 'line 1 has nothing at column 4, where old_text has U+000D (carriage return)'],
    ['caf\u00e9 x', 'cafe\u0301 x', 'line 1 has U+00E9 at column 4 (\u00e9), where old_text has U+0065 U+0301'],
    ['cafe\u0301 x', 'caf\u00e9 x', 'line 1 has U+0065 U+0301 at column 4, where old_text has U+00E9 (\u00e9)'],
    ['a\u200bb', 'ab', 'line 1 has U+200B at column 2 (zero width space), where old_text has nothing'],
    ['x \u2013 y', 'x - y', 'line 1 has U+2013 at column 3 (\u2013), where old_text has U+002D (-)'],
    ['wait\u2026', 'wait...', 'line 1 has U+2026 at column 5 (\u2026), where old_text has 3 times U+002E (.)'],
    ['\u0441 = 5; // x', 'c = 5; // x', 'line 1 has U+0441 at column 1 (\u0441), where old_text has U+0063 (c)'],
    ['one\rtwo\r', 'one\ntwo', 'line 1 has U+000D at column 4 (carriage return), where old_text has U+000A (line feed)'],
    ['one\u2028  two', 'one\n  two', 'line 1 has U+2028 at column 4 (line separator), where old_text has U+000A (line feed)'],
  ])('names the characters that differ: %j for %j', (text, wanted, difference) => {
    expect(messageOf(text, wanted)).toContain(`old_text not found in a. It looks like a place of the file, but ${difference}`);
  });

  it('shows similar lines with different letters', () => {
    expect(messageOf('the task list\n', 'the task lost')).toMatch(/Did you mean:\n {3}1 \| the task list$/);
    expect(messageOf('one\n', '   \n')).toMatch(/Read the file first/);
  });
});
