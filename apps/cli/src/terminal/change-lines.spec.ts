import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '#contracts';
import { changeLines } from './change-lines.js';
import { Terminal } from './terminal.js';

const ESC = '\u001b';
const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
const ID = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';

describe('changes of files on a terminal', () => {
  it('draws added and removed lines in colours, by their first character', () => {
    const lines = ['-- a comment of SQL', '+++ counter', ' same', String.raw`\ No newline at end of file`];
    expect(drawn({ diff: change({ lines }) }, new Named(stream, stream, {}))).toEqual([
      '[bold a.txt] [green +1] [red -1]',
      '[dim @@ -1,2 +1,2 @@]',
      '[red -- a comment of SQL]',
      '[green +++ counter]',
      ' same',
      String.raw`[dim \ No newline at end of file]`,
    ]);
  });

  it('draws the diff of each changed file, and nothing for unchanged files or other details', () => {
    const same = { ...change({ lines: [] }), added: 0, removed: 0, hunks: [] };
    const details = {
      diffs: [change({ path: 'b.txt', lines: ['-x', '+y'] }), 'no diff', same, change({ path: 'c.txt', lines: ['-1', '+2'] })],
    };
    expect(drawn(details)).toEqual(['b.txt +1 -1', '@@ -1,2 +1,2 @@', '-x', '+y', 'c.txt +1 -1', '@@ -1,2 +1,2 @@', '-1', '+2']);
    expect([drawn({ diff: 'a', diffs: {} }), drawn({ files: 1 }), drawn(undefined)]).toEqual([[], [], []]);
  });

  it('escapes hidden text and line beginnings, also in paths, and ignores Windows line ends', () => {
    const lines = [`-a${ESC}[2J\r`, '+b\rc\u202e\r', ' x\nMay it run?'];
    expect(drawn({ diff: change({ path: `a${ESC}]0;t\u0007\nb`, lines }) })).toEqual([
      'a<U+001B>]0;t<U+0007><U+000A>b +1 -1',
      '@@ -1,2 +1,2 @@',
      '-a<U+001B>[2J',
      '+b<U+000D>c<U+202E>',
      ' x<U+000A>May it run?',
    ]);
  });

  it('cuts a long diff and states how many lines the command and the tool have left out', () => {
    const long = change({ lines: Array.from({ length: 250 }, (_, n) => `+${n}`) });
    const cut = drawn({ diffs: [long, change({ lines: ['+x'] })] });
    expect(cut).toHaveLength(201);
    expect(cut.slice(-2)).toEqual(['+197', `… 55 more lines. All of them: toolyard show ${ID} --json`]);
    expect(drawn({ diff: change({ lines: [`+${'x'.repeat(5_000)}\r`] }) }).at(-1)).toBe(`+${'x'.repeat(999)}…`);
    expect(drawn({ diff: { ...change({ lines: ['+x'] }), truncated: true } }).at(-1)).toBe('… the tool left out the rest of this change');
    expect(drawn({ diff: { ...change({ lines: [] }), hunks: [], truncated: true } })).toEqual([
      'a.txt +1 -1',
      '… the tool left out the rest of this change',
    ]);
  });
});

function change({ path = 'a.txt', lines }: { path?: string; lines: string[] }) {
  return { path, added: 1, removed: 1, truncated: false, hunks: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines }] };
}

/** Names its colours, as if there were a terminal. */
class Named extends Terminal {
  override colour(style: Parameters<Terminal['colour']>[0], text: string): string {
    return `[${String(style)} ${text}]`;
  }
}

function drawn(details: Record<string, JsonValue> | undefined, terminal = new Terminal(stream, stream, {})): string[] {
  return changeLines({ id: ID, result: { content: [], isError: false, ...(details && { details }) } }, terminal);
}
