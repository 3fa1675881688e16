import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createLineParser, plainText, textOf } from './ansi.js';
import { TERMINAL_LIMITS, TerminalText } from './terminal-text.js';

const E = '\u001b';
const spans = (line: string) => createLineParser()(line);

describe('terminal colours', () => {
  it('turns terminal colours into styles of a closed set, and continues over line ends', () => {
    const parse = createLineParser();
    expect(parse(`${E}[1;31mred`)).toEqual([{ text: 'red', style: { color: 'red', bold: true } }]);
    // Without members for a plain style, by which later lines are known to be plain.
    expect(parse(`still${E}[m plain`)).toStrictEqual([
      { text: 'still', style: { color: 'red', bold: true } },
      { text: ' plain', style: {} },
    ]);
    expect(spans(`${E}[38;2;1;2;300mx`)).toEqual([{ text: 'x', style: { color: '#0102ff' } }]);
    expect(spans(`${E}[38;5;999mx`)).toEqual([{ text: 'x', style: {} }]);
  });

  it.each([
    ['a title', `a${E}]0;pwned\u0007b`, 'ab'],
    ['a link', `${E}]8;;javascript:alert(1)${E}\\click${E}]8;;${E}\\`, 'click'],
    ['a string that nothing ends', `a${E}]52;c;ZXZpbA==`, 'a'],
    ['cursor movement and clearing', `a${E}[2J${E}[10;10Hb${E}[?25l`, 'ab'],
    ['an escape that a colour would swallow text for', `${E}[ harm`, `arm`],
    ['markup', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['text that runs backwards', 'a\u202eb', 'a\ufffdb'],
    ['hidden text', `${E}[8msecret`, 'secret'],
    ['a rewritten line', '10%\r50%\r100%\r', '100%'],
  ])('shows %s as text only', (_what, input, shown) => {
    expect(plainText(input)).toBe(shown);
  });

  it('leaves no control character in any text of a terminal', () => {
    const nasty = fc.array(
      fc.oneof(
        fc.constantFrom(E, '[', 'm', ';', '31', '\r', '\u0007', ']', '\\', '\u009b', '?', 'P', ' '),
        fc.string({ unit: 'grapheme' }),
      ),
    );
    fc.assert(
      fc.property(nasty, (parts) => {
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        expect(textOf(spans(parts.join('').replaceAll('\n', '')))).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe('streamed text', () => {
  it('reads streamed text the same in chunks of any size', () => {
    const whole = `one ${E}[32mgreen${E}[0m\nprogress 1%\rprogress 2%\nlast`;
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const terminal = new TerminalText();
        let from = 0;
        for (const to of [...cuts.sort((a, b) => a - b), whole.length]) {
          terminal.append(whole.slice(from, to));
          from = to;
        }
        expect(terminal.text()).toBe('one green\nprogress 2%\nlast');
      }),
    );
  });

  it('continues a colour across lines until it is reset, and keeps the time of each line', () => {
    const terminal = new TerminalText();
    terminal.append(`plain\n${E}[31mred\nstill red\n${E}[0mplain`, 7);
    terminal.append(' again', 8);
    const colours = [0, 1, 2, 3].map((index) => terminal.line(index)[0]?.style.color);
    expect(colours).toEqual([undefined, 'red', 'red', undefined]);
    expect([terminal.time(0), terminal.time(3), terminal.text(3)]).toEqual([7, 8, 'plain again']);
  });

  it('marks lines of streamed text that a program wrote to its standard error, also in pieces', () => {
    const terminal = new TerminalText();
    terminal.append('one\ntw', 1);
    terminal.append('o!', 2, true);
    terminal.append('\nthree\n', 3);
    terminal.append('four\nfi', 4, true);
    expect([0, 1, 2, 3, 4].map((index) => [terminal.text(index), terminal.isStderr(index)])).toEqual([
      ['one', false],
      ['two!', true],
      ['three', false],
      ['four', true],
      ['fi', true],
    ]);
  });

  it('bounds streamed text by its limits and reports what it dropped', () => {
    const terminal = new TerminalText();
    for (let line = 0; line < TERMINAL_LIMITS.lines + 7; line += 1) terminal.append(`line ${line}\n`);
    terminal.append('x'.repeat(TERMINAL_LIMITS.lineChars + 5));
    expect(terminal.dropped).toBe(7);
    expect(terminal).toHaveLength(TERMINAL_LIMITS.lines + 1);
    expect(terminal.text()).toMatch(/x … 5 more characters$/);
  });
});
