import { expect, it } from '@jest/globals';
import type { CallRow } from './call-row.js';
import { foldedRuns } from './folded-runs.js';

const row = (id: string, more: Partial<CallRow> = {}): CallRow => ({
  id,
  tool: 'shell',
  status: 'ended',
  outcome: 'completed',
  retrying: false,
  suspended: false,
  cancelling: false,
  attempt: 1,
  submittedAt: 0,
  ...more,
});

it('folds consecutive completed runs of one schedule, but no failed, open or foreign run', () => {
  const disk = { scheduleId: 'disk' };
  const rows = [
    row('9', { ...disk, status: 'running', outcome: undefined }),
    row('8', disk),
    row('7', disk),
    row('6', disk),
    row('5', { ...disk, isError: true }),
    row('4', disk),
    row('3', { scheduleId: 'report' }),
    row('2'),
    row('1'),
  ];
  const shown = foldedRuns(rows).map(({ id, earlierRuns }) => (earlierRuns === undefined ? id : `${id} and ${earlierRuns}`));
  expect(shown).toEqual(['9', '8 and 2', '5', '4', '3', '2', '1']);
});
