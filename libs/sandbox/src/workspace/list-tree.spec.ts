import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { listTree, listTreeByTime } from './list-tree.js';
import { resolveFile } from './resolved-file.js';

const MOST_READ = 20_000;

it('reads at most 20,000 names of a folder, and states that there are more', async () => {
  const root = mkdtempSync(join(tmpdir(), 'list-tree-'));
  for (let n = 0; n < MOST_READ + 50; n += 1) writeFileSync(join(root, `f${n}`), '');
  const place = resolveFile({ root }, '.', 'read');
  const signal = new AbortController().signal;
  let seen = 0;
  await listTreeByTime(place, { maxDepth: 1, most: 10, excludes: () => (seen += 1) > 0 }, signal);
  expect(seen).toBe(MOST_READ);
  const { entries, total } = await listTree(place, { maxDepth: 1, most: 10 }, signal);
  expect([entries.length, total, entries.toSorted((a, b) => (a < b ? -1 : 1))]).toEqual([10, MOST_READ, entries]);
  rmSync(root, { recursive: true });
});
