import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { MarkedOutput } from './marked-output.js';

it('keeps beginning and end of output beyond 1 MiB, and the answer after it', async () => {
  const stream = new PassThrough();
  const seen: [string, boolean][] = [];
  const done = new MarkedOutput(stream, true).until('n', (text, cut) => seen.push([text, cut]));
  stream.write('\0n\0first\n');
  for (let line = 0; line < 20; line += 1) stream.write(`${line}: ${'x'.repeat(100_000)}\n`);
  stream.end('last é\n\0n\0{}\0n\0');
  const { output, answer } = await done;
  expect([answer, output.text.slice(0, 6), output.tail.slice(-7), output.hasGap]).toEqual(['{}', 'first\n', 'last é\n', true]);
  expect(output.bytes).toBe(6 + 20 * 100_001 + 10 * 3 + 10 * 4 + 8);
  expect([seen.map(([text]) => text).join(''), seen.filter(([, cut]) => cut).length]).toEqual([output.text, 1]);
});
