import { expect, it } from '@jest/globals';
import { replFailure, replOutput } from './repl-text.js';

const CTX = {
  callId: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
  sessionId: 's',
  signal: new AbortController().signal,
  redact: (text: string) => text,
};
const SANDBOX = { name: 'none', network: 'host' } as const;
const answer = { how: 'done', stdout: '\r1 %\r2 %\n', stderr: '\u001b[31moops\u001b[0m\n', truncated: false, durationMs: 1 } as const;

it('shows the output of code as a terminal does in the end, each stream as a text of its own', () => {
  const { content, readOn } = replOutput('python', { ...answer, value: '7' }, SANDBOX, CTX);
  expect(content.map((item) => (item.type === 'text' ? item.text : item.type))).toEqual(['stdout:\n2 %\n\n', 'stderr:\noops', '=> 7']);
  expect(readOn?.(5)).toContain('"from_byte":5');
});

it('shows the last output of code that was stopped as a terminal does', () => {
  expect(replFailure({ ...answer, how: 'ended', why: 'killed' }, undefined, 5, CTX)?.message).toContain('Last output:\n2 %\noops');
});
