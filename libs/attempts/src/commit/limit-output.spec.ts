import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Content } from '#contracts';
import { cutUtf8, limitOutput, modelText, truncationNotice } from './limit-output.js';
import { anyText } from '../../../../test/support/any-text.js';

const someText = anyText({ maxLength: 200 });
const anyContent = fc.array(
  fc.oneof(
    someText.map((text): Content => ({ type: 'text', text })),
    fc.dictionary(fc.string(), fc.integer()).map((json): Content => ({ type: 'json', json })),
    someText.map((text): Content => ({ type: 'resource', resource: { uri: 'file:///a', text } })),
    fc.constantFrom<Content>(
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'aGk=' } },
    ),
  ),
  { maxLength: 6 },
);

describe('cutUtf8', () => {
  it('gives the longest prefix that fits and splits no character [EX-47]', () => {
    fc.assert(
      fc.property(someText, fc.nat(300), (text, limit) => {
        const cut = cutUtf8(text, limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        const code = text.codePointAt(cut.length);
        const next = code === undefined ? undefined : String.fromCodePoint(code);
        if (next !== undefined) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(limit);
      }),
    );
  });
});

describe('limitOutput', () => {
  it('is the identity at the limit and cuts one byte above it [EX-40]', () => {
    const exact: Content[] = [{ type: 'text', text: 'x'.repeat(16_384) }];
    expect(limitOutput(exact, 16_384)).toEqual({ content: exact });
    const over = limitOutput([{ type: 'text', text: 'x'.repeat(16_385) }], 16_384);
    expect(over.content).toEqual([{ type: 'text', text: `${'x'.repeat(16_384)}[output truncated — original size: 16,385 bytes]` }]);
  });

  it('names the size with thousands separators [EX-41]', () => {
    expect(truncationNotice(142_857)).toBe('[output truncated — original size: 142,857 bytes]');
  });

  it('keeps within the limit, in order, everything that is no text, and the whole text beside', () => {
    fc.assert(
      fc.property(anyContent, fc.nat(400), (content, limit) => {
        const { content: kept, whole } = limitOutput(content, limit);
        const textOf = (items: readonly Content[]) => items.map(modelText).join('');
        const others = (items: readonly Content[]) =>
          items.filter((item) => ['image', 'audio'].includes(item.type) || (item.type === 'resource' && 'blob' in item.resource));
        const bytes = Buffer.byteLength(textOf(content));
        expect(others(kept)).toEqual(others(content));
        if (bytes <= limit) return expect({ kept, whole }).toEqual({ kept: content, whole: undefined });
        expect(whole).toEqual({ text: textOf(content), bytes });
        const shown = textOf(kept);
        expect(shown.endsWith(truncationNotice(bytes))).toBe(true);
        const head = shown.slice(0, -truncationNotice(bytes).length);
        expect(textOf(content).startsWith(head)).toBe(true);
        return expect(Buffer.byteLength(head)).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
