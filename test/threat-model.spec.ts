import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';

const GUIDE = 'deploy/guides/threat-model.md';
const ENTRY = /^(\d+)\. (.+)\n {3}\(\[`.+`\]\((.+)\)\)$/gm;

it('finds each test that the threat model names in the named file', () => {
  const guide = readFileSync(GUIDE, 'utf8');
  const entries = [...guide.matchAll(ENTRY)].map(([, number, title = '', file = '']) => ({ number, title, file }));
  // Tests of a table have a placeholder in their title.
  const titleIn = (file: string, title: string) => readFileSync(join(dirname(GUIDE), file), 'utf8').includes(title.replaceAll('…', '%s'));
  expect(entries.filter(({ title, file }) => title.includes('%s') || !titleIn(file, title))).toEqual([]);
  const rows = [...guide.matchAll(/^\| .* \| ([\d, ]+) \|$/gm)].flatMap(([, numbers = '']) => numbers.split(', '));
  expect(rows).toEqual(entries.map(({ number }) => number));
  expect(rows.length).toBeGreaterThan(0);
});
