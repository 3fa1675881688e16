import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../../test/support/any-text.js';
import { OutputCapture } from './output-capture.js';
import { TerminalScreen } from './terminal-screen.js';

/** Text as a pipe gives it: in chunks that may split characters. */
function captured(text: string, chunkBytes: number, limitBytes: number, screen?: TerminalScreen) {
  const seen: string[] = [];
  const capture = new OutputCapture(limitBytes, (piece) => seen.push(piece), screen);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) capture.accept(bytes.subarray(at, at + chunkBytes));
  capture.end();
  return { ...capture.captured, seen: seen.join('') };
}

describe('the capture of a stream', () => {
  it('keeps all of a text that is slightly longer than the size of its beginning', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 100 }), fc.integer({ min: 1, max: 7 }), fc.nat(50), (text, chunkBytes, limitBytes) => {
        const { text: head, tail, bytes, truncated, hasGap, seen } = captured(text, chunkBytes, limitBytes);
        expect([head + tail, hasGap, seen]).toEqual([text, false, head]);
        expect(truncated).toBe(tail !== '');
        expect(bytes).toBe(Buffer.byteLength(text));
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(limitBytes);
      }),
    );
  });

  it('keeps the last form of a redrawn line and streams each one, for any cuts', () => {
    const text = `${Array.from({ length: 50 }, (_unused, n) => `\r\u001b[3${n % 8}m${n} é 😀\u001b[0m`).join('')}\r\n\u0000done\n`;
    for (let chunkBytes = 1; chunkBytes < 12; chunkBytes += 1) {
      const { text: head, tail, bytes, shownBytes, truncated, seen } = captured(text, chunkBytes, 10_000, new TerminalScreen());
      expect([head, tail, truncated, seen]).toEqual(['49 é 😀\r\ndone\n', '', false, text]);
      expect([bytes, shownBytes]).toEqual([Buffer.byteLength(text), Buffer.byteLength(head)]);
    }
    const cut = captured(text, 7, 20, new TerminalScreen());
    expect([cut.text, cut.truncated, cut.seen.length < 30]).toEqual(['49 é 😀\r\ndone\n', false, true]);
  });

  it('keeps the end of a text of any length, in whole characters and bounded memory', () => {
    for (const chunkBytes of [1_000, 4_097, 65_536]) {
      const text = Array.from({ length: 50_000 }, (_unused, n) => `${n} \u{1F600}é\n`).join('');
      const { text: head, tail, hasGap } = captured(text, chunkBytes, 1_000);
      expect([hasGap, text.startsWith(head), text.endsWith(tail)]).toEqual([true, true, true]);
      expect(tail.length).toBeGreaterThan(98_000);
      expect(tail.length).toBeLessThan(200_000);
    }
  });
});
