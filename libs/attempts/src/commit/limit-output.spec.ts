import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Content } from '#contracts';
import { cutUtf8, keepEnds } from './cut-text.js';
import { limitOutput, modelText, truncationNotice } from './limit-output.js';
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
  it('cuts the longest prefix of a text that fits and splits no character [EX-47]', () => {
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

describe('keepEnds', () => {
  const withLines = fc
    .array(fc.oneof(someText, fc.constant('\n'), fc.constant('a line\n')), { maxLength: 60 })
    .map((parts) => parts.join(''));

  it('keeps beginning and end of a text within their sizes, without overlap and without split characters', () => {
    fc.assert(
      fc.property(withLines, fc.nat(300), fc.nat(400), (text, limit, tailBytes) => {
        fc.pre(Buffer.byteLength(text) > limit);
        const { head, tail } = keepEnds(text, limit, tailBytes);
        expect([text.startsWith(head), text.endsWith(tail)]).toEqual([true, true]);
        expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(Math.min(limit, tailBytes));
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(limit - Math.min(limit, tailBytes));
        expect(head + tail).not.toMatch(/\ufffd/);
      }),
    );
  });

  it('keeps whole lines of a text with short lines, and uses at least half of the room for long ones', () => {
    const lines = Array.from({ length: 1_000 }, (_unused, n) => `line ${n}\n`).join('');
    const { head, tail } = keepEnds(lines, 1_000, 750);
    expect([head, tail].map((part) => /^(line \d+\n)+$/.test(part))).toEqual([true, true]);
    const long = `short\n${'x'.repeat(5_000)}\nend`;
    expect(keepEnds(long, 100, 50)).toEqual({ head: `short\n${'x'.repeat(44)}`, tail: `${'x'.repeat(46)}\nend` });
  });
});

describe('limitOutput', () => {
  it('leaves an output whole at the limit and cuts one byte above it [EX-40]', () => {
    const exact: Content[] = [{ type: 'text', text: 'x'.repeat(16_384) }];
    expect(limitOutput(exact, 16_384)).toEqual({ content: exact });
    const over = limitOutput([{ type: 'text', text: 'x'.repeat(16_385) }], 16_384);
    expect(over.content).toEqual([{ type: 'text', text: `${'x'.repeat(16_384)}[output truncated — original size: 16,385 bytes]` }]);
  });

  it('names the size of a cut output with thousands separators [EX-41]', () => {
    expect(truncationNotice(142_857)).toBe('[output truncated — original size: 142,857 bytes]');
  });

  it('keeps both ends of a text whose end matters, with a note on the omission and how to read it', () => {
    const text = Array.from({ length: 1_000 }, (_unused, n) => `line ${n}\n`).join('');
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const;
    const ends = { tailBytes: 24, readOn: (from: number) => `read ${from}` };
    const limited = limitOutput([{ type: 'text', text }, image], 40, { ends });
    const shown = 'line 0\nline 1\n[output truncated — original size: 8,890 bytes; 8,858 left out here; read 14]\nline 998\nline 999\n';
    expect(limited).toEqual({ content: [{ type: 'text', text: shown }, image], whole: { text, bytes: 8_890 } });
    expect(limitOutput([{ type: 'text', text }], 8_890, { ends })).toEqual({ content: [{ type: 'text', text }] });
  });

  it('keeps both ends of each part of an output, and gives unused room of a small part to the others', () => {
    const part = (name: string, lines: number): Content => ({
      type: 'text',
      text: Array.from({ length: lines }, (_unused, n) => `${name} ${n}\n`).join(''),
    });
    const ends = { tailBytes: 60, readOn: (from: number) => `read ${from}` };
    const textOf = (content: readonly Content[]) => content.map(modelText).join('|');
    const both = limitOutput([part('out', 1_000), part('err', 1_000)], 120, { ends });
    expect(both.whole?.text).toBe(`${modelText(part('out', 1_000))}\n${modelText(part('err', 1_000))}`);
    expect(textOf(both.content)).toMatch(
      /^out 0\n(?:out \d\n)+\[output truncated — original size: 15,781 bytes; 7,\d{3} left out here; read \d\d\]\n(?:out \d+\n)*out 999\n\nerr 0\n(?:err \d\n)+\[output truncated — original size: 15,781 bytes; 7,\d{3} left out here; read 79\d\d\]\n(?:err \d+\n)*err 999\n$/,
    );
    const [, from = ''] = /read (79\d\d)/.exec(textOf(both.content)) ?? [];
    expect(both.whole?.text.slice(Number(from))).toMatch(/^err \d\n/);
    const one = limitOutput([part('out', 1_000), part('err', 2)], 120, { ends, seenBytes: 1_000_000 });
    expect(textOf(one.content)).toMatch(/\nout 999\n\nerr 0\nerr 1\n$/);
    expect(textOf(one.content)).toMatch(/original size: 1,000,000 bytes; 999,\d{3} left out here/);
    const small = [part('out', 2), part('err', 2)];
    expect(limitOutput(small, 120, { ends })).toEqual({ content: [{ type: 'text', text: 'out 0\nout 1\n\nerr 0\nerr 1\n' }] });
  });

  it('cuts an output of very many texts once, not each of them', () => {
    const many = Array.from({ length: 200_000 }, (): Content => ({ type: 'text', text: 'a text' }));
    const ends = { tailBytes: 24, readOn: (from: number) => `read ${from}` };
    const [kept, ...more] = limitOutput(many, 1_000, { ends }).content;
    expect([more, Buffer.byteLength(kept === undefined ? '' : modelText(kept)) < 2_000]).toEqual([[], true]);
  });

  it('keeps all non-text items within the limit, in order, and the whole text beside them', () => {
    fc.assert(
      fc.property(anyContent, fc.nat(400), (content, limit) => {
        const { content: kept, whole } = limitOutput(content, limit);
        const textOf = (items: readonly Content[]) => items.map(modelText).join('');
        const others = (items: readonly Content[]) =>
          items.filter((item) => ['image', 'audio'].includes(item.type) || (item.type === 'resource' && 'blob' in item.resource));
        const bytes = Buffer.byteLength(textOf(content));
        expect(others(kept)).toEqual(others(content));
        expect(limitOutput(content, limit, { seenBytes: bytes })).toEqual({ content: kept, ...(whole && { whole }) });
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

  it.each([
    ['other fields of half the limit', { stdout: '', stderr: '', rows: 'x'.repeat(50_000) }],
    ['numbers that JSON.parse rounds', '{"stdout":"","stderr":"","id":12345678901234567890,"rows":[' + '1,'.repeat(20_000) + '1]}'],
  ])('cuts a text that only resembles the streams of a command: with %s', (_what, output) => {
    const text = typeof output === 'string' ? output : JSON.stringify(output);
    const ends = { tailBytes: 10_000, readOn: () => 'read on' };
    const { content } = limitOutput([{ type: 'text', text }], 30_000, { ends });
    const [shown = ''] = content.map(modelText);
    expect(Buffer.byteLength(shown)).toBeLessThan(31_000);
    expect([shown.startsWith(text.slice(0, 100)), shown.endsWith(text.slice(-100))]).toEqual([true, true]);
  });
});
