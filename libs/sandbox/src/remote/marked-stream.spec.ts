import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MarkedStream } from './marked-stream.js';

/** Output of a stream that arrives in these pieces. */
function through(pieces: readonly string[]) {
  const output: string[] = [];
  const stream = new MarkedStream(
    'ready',
    'mark',
    (bytes) => output.push(bytes.toString('latin1')),
    () => undefined,
    ['Connection to '],
  );
  for (const piece of pieces) stream.accept(Buffer.from(piece, 'latin1'));
  const live = output.join('');
  stream.finish();
  return { live, output: output.join(''), trailer: stream.trailer };
}

describe('a stream between two marks', () => {
  it('passes the text between two marks of a stream, for any pieces', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', 'mark', ' ', 'Connection to ') }), fc.array(fc.nat(40)), (text, cuts) => {
        fc.pre(!text.includes('\nmark '));
        const whole = `banner\nready\n${text}\nmark 3\n`;
        const at = [...new Set(cuts.map((cut) => cut % whole.length))].sort((a, b) => a - b);
        const pieces = [...at, whole.length].map((end, index) => whole.slice(at[index - 1] ?? 0, end));
        expect(through(pieces)).toMatchObject({ output: text, trailer: '3' });
      }),
    );
  });

  it('delays no more of a stream than a possible mark', () => {
    expect(through(['ready\n', 'half']).live).toBe('half');
    expect(through(['ready\n', 'line\n']).live).toBe('line');
    expect(through(['ready\n', 'line\nmar', 'x']).live).toBe('line\nmarx');
  });

  it('drops the last words of ssh about a lost connection, and no others', () => {
    expect(through(['ready\n', 'up\n', 'Connection to 10.0.0.1 closed by remote host.\r\n'])).toEqual({
      live: 'up\n',
      output: 'up\n',
      trailer: undefined,
    });
    expect(through(['ready\n', 'Connection to db is open\nnext']).live).toBe('Connection to db is open\nnext');
    expect(through(['ready\n', 'Connection to db is open\nmark 0\n'])).toMatchObject({ output: 'Connection to db is open', trailer: '0' });
  });
});
