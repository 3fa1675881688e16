import { expect, it } from '@jest/globals';
import type { CallRow } from '../calls/call-row.js';
import { markOf, sessionRows, type SessionRow } from './session-rows.js';

const row = (id: string, submittedAt: number, more: Partial<CallRow> = {}): CallRow => ({
  id,
  tool: 'echo',
  status: 'ended',
  outcome: 'completed',
  retrying: false,
  suspended: false,
  cancelling: false,
  attempt: 1,
  submittedAt,
  ...more,
});
const branches = [
  { row: row('a', 1, { batchId: 'one' }), depth: 0 },
  { row: row('a-child', 2), depth: 1 },
  { row: row('alone', 3), depth: 0 },
  { row: row('b', 4, { batchId: 'one', outcome: 'failed' }), depth: 0 },
  { row: row('single', 5, { batchId: 'two' }), depth: 0 },
];
const said = (id: string, at: number) => ({ id, message: 'stop', from: 'me', at: new Date(at).toISOString(), taken: false });
const shown = (rows: readonly SessionRow[]) => rows.map((it) => (it.kind === 'call' ? `${'>'.repeat(it.branch.depth)}${it.key}` : it.key));

it('gathers the calls of a batch below its row with their children, and hides all of them when it is folded', () => {
  expect(shown(sessionRows(branches, [], () => false))).toEqual(['batch one', '>a', '>>a-child', '>b', 'alone', 'single']);
  const folded = sessionRows(branches, [], () => true);
  expect(shown(folded)).toEqual(['batch one', 'alone', 'single']);
  expect(folded.map(markOf)).toEqual(['failed', undefined, undefined]);
});

it('places messages of people between the calls before and after them', () => {
  const rows = sessionRows(branches, [said('late', 9), said('early', 2)], () => true);
  expect(shown(rows)).toEqual(['batch one', 'message early', 'alone', 'single', 'message late']);
});
