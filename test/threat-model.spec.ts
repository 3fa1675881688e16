import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';

const GUIDE = 'deploy/guides/threat-model.md';
const ENTRY = /^(\d+)\. (.+)\n {3}\(\[`.+`\]\((.+)\)\)$/gm;

it('finds each test that the threat model names in the file that it names', () => {
  const guide = readFileSync(GUIDE, 'utf8');
  const entries = [...guide.matchAll(ENTRY)].map(([, number, title = '', file = '']) => ({ number, title, file }));
  const missing = entries.filter(({ title, file }) => !readFileSync(join(dirname(GUIDE), file), 'utf8').includes(title));
  expect(missing).toEqual([]);
  const rows = [...guide.matchAll(/^\| .* \| ([\d, ]+) \|$/gm)].flatMap(([, numbers = '']) => numbers.split(', '));
  expect(rows).toEqual(entries.map(({ number }) => number));
  expect(rows.length).toBeGreaterThan(0);
});
