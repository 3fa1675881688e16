import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chunkText } from './chunk-text.js';
import { anyText } from '../../../../test/support/any-text.js';

const words = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(' ', '\n', '\n\n', '. ')), { maxLength: 200 });
const text = words.map((parts) => parts.join(''));
const sizes = fc
  .record({ characters: fc.integer({ min: 2, max: 80 }), share: fc.integer({ min: 0, max: 90 }) })
  .map(({ characters, share }) => ({ characters, overlap: Math.floor((characters * share) / 100) }));

describe('the chunks of a text', () => {
  it('cuts a text into bounded chunks that cover it, each starting within or right after the previous one', () => {
    fc.assert(
      fc.property(text, sizes, (whole, size) => {
        const chunks = chunkText(whole, size);
        let end = 0;
        for (const [index, { start, text: part }] of chunks.entries()) {
          expect(whole.slice(start, start + part.length)).toBe(part);
          expect(part.length).toBeGreaterThan(0);
          expect(part.length).toBeLessThanOrEqual(size.characters);
          expect(start).toBeLessThanOrEqual(end);
          expect(start + part.length).toBeGreaterThan(end);
          if (index > 0) expect(end - start).toBeLessThanOrEqual(Math.max(size.overlap + 1, 1));
          end = start + part.length;
        }
        expect(end).toBe(whole.length);
      }),
    );
  });

  it('cuts no character in two between chunks', () => {
    fc.assert(
      fc.property(anyText({ minLength: 1 }), sizes, (whole, size) => {
        for (const { text: part } of chunkText(whole.toWellFormed(), size)) expect(part.isWellFormed()).toBe(true);
      }),
    );
  });

  it('ends chunks at nearby paragraphs', () => {
    const paragraph = 'One sentence follows another here. '.repeat(3).trim();
    const [first] = chunkText(`${paragraph}\n\n${paragraph}\n\n${paragraph}`, { characters: 150, overlap: 20 });
    expect(first?.text).toBe(`${paragraph}\n\n`);
  });
});
