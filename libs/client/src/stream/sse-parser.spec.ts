import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SseParser, type SseItem } from './sse-parser.js';

const read = (...pieces: string[]): SseItem[] => {
  const text = new SseParser();
  return pieces.flatMap((piece) => text.feed(piece));
};
const message = (data: string, id = '', event = 'message') => ({ kind: 'message', id, event, data });

describe('the text of an event stream', () => {
  it('parses an event stream as messages and comments, with an id that persists', () => {
    expect(read(': from 1.2.3\n\nid: 7\nevent: call.end\ndata: {"a":1}\n\ndata:two\ndata: lines\n\n')).toEqual([
      { kind: 'comment', text: 'from 1.2.3' },
      message('{"a":1}', '7', 'call.end'),
      message('two\nlines', '7'),
    ]);
  });

  it('parses a message only with data and an empty line after it', () => {
    expect(read('event: call.end\n\ndata: cut of')).toEqual([]);
    expect(read('retry: 2000\nunknown: x\ndata\n\n')).toEqual([message('')]);
  });

  it('parses an event stream the same for any chunks and line ends', () => {
    const line = fc.constantFrom('id: 4', 'event: gap', 'data: a:b', 'data:  c', 'data', ': here', '', '');
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat(80)), (lines, end, cuts) => {
        const whole = lines.map((text) => text + end).join('');
        const at = [...new Set([0, ...cuts.filter((cut) => cut < whole.length), whole.length])].sort((a, b) => a - b);
        const pieces = at.slice(1).map((to, index) => whole.slice(at[index], to));
        // A character after a lone carriage return shows whether it ended a line.
        expect(read(...pieces, 'x')).toEqual(read(lines.map((text) => `${text}\n`).join(''), 'x'));
      }),
    );
  });
});
