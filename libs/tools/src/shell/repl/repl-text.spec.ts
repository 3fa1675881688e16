import { expect, it } from '@jest/globals';
import { replFailure, replOutput } from './repl-text.js';

const CTX = {
  callId: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
  sessionId: 's',
  signal: new AbortController().signal,
  redact: (text: string) => text,
};
const SANDBOX = { name: 'none', network: 'host' } as const;
const captured = (text: string) => {
  const bytes = Buffer.byteLength(text);
  return { text, tail: '', bytes, shownBytes: bytes, truncated: false, hasGap: false };
};
const stdout = captured('\r1 %\r2 %\n');
const answer = { how: 'done', stdout, stderr: captured('\u001b[31moops\u001b[0m\n'), durationMs: 1 } as const;

it('shows the final terminal output of code, each stream as its own text', () => {
  const { content, readOn } = replOutput('python', { ...answer, value: '7' }, SANDBOX, CTX);
  expect(content.map((item) => (item.type === 'text' ? item.text : item.type))).toEqual(['stdout:\n2 %\n\n', 'stderr:\noops', '=> 7']);
  expect(readOn?.(5)).toContain('"from_byte":5');
});

it('shows the last output of code that was stopped as a terminal does', () => {
  expect(replFailure({ ...answer, how: 'ended', why: 'killed' }, undefined, 5, CTX)?.message).toContain('Last output:\n2 %\noops');
});

it('shows beginning and end of output of code that was too long to keep, and how much is missing', () => {
  const tail = `${'x\n'.repeat(50_000)}almost\nlast\n`;
  const long = { text: 'first\n', tail, bytes: 2_000_019, shownBytes: 2_000_019, truncated: true, hasGap: true };
  const redact = (text: string) => text.replaceAll('almost', '***');
  const { content, seenBytes } = replOutput('node', { ...answer, stdout: long, stderr: captured('') }, SANDBOX, { ...CTX, redact });
  const [part] = content;
  expect(part?.type === 'text' && part.text).toMatch(
    /^first\n\n\[stdout truncated — 1,9\d\d,\d{3} of 2,000,019 bytes were not kept\]\n(x\n){10000,}\*{3}\nlast$/,
  );
  expect([content.length, seenBytes]).toEqual([1, 2_000_019]);
});
