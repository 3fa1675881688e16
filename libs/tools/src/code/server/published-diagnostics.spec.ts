import { expect, it } from '@jest/globals';
import { PublishedDiagnostics } from './published-diagnostics.js';
import { Places, parseAnswer } from './server-answers.js';

const now = { signal: new AbortController().signal, timeoutMs: 60_000 };

it('keeps the newest 200 faults of a report, and 4 MiB of all reports', async () => {
  const reports = new PublishedDiagnostics(0);
  const faults = Array.from({ length: 300 }, (_, line) => ({ line, message: 'x'.repeat(10_000) }));
  for (const uri of ['file:///a', 'file:///b', 'file:///c']) reports.accept({ uri, diagnostics: faults });
  expect(await reports.settled('file:///c', now)).toHaveLength(200);
  expect(await reports.settled('file:///b', now)).toHaveLength(200);
  expect(await reports.settled('file:///a', { ...now, timeoutMs: 1 })).toBeUndefined();
});

it('refuses an answer of too many values before it is checked', () => {
  expect(() =>
    parseAnswer(
      Places,
      Array.from({ length: 200_001 }, () => 0),
      'slow',
    ),
  ).toThrow('gave an answer of more than 200000 values');
  expect(() => parseAnswer(Places, [0], 'slow')).toThrow('not of the protocol');
});
