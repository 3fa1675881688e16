import { describe, expect, it } from '@jest/globals';
import { columnWidths, readView, shownColumns, sortRows } from './call-view-search.js';

describe('how the list of calls is shown', () => {
  it('reads the layout of the list of calls from the address, and ignores unknown parts', () => {
    expect(readView({ sort: 'longest', hide: 'Agent,Subject,colour', peek: '', tool: 'echo' })).toEqual({ sort: 'longest', hide: 'Agent' });
    expect(readView({ sort: 'loudest', hide: '' })).toEqual({});
  });

  it('leaves columns out of the list of calls', () => {
    const columns = shownColumns({ hide: 'Tool,Session' });
    expect(columns).toEqual(['State', 'Subject', 'Agent', 'Risk', 'Run time', 'Submitted']);
    expect(columnWidths(columns).split('px')).toHaveLength(7);
    expect(shownColumns({ peek: '07-x' })).toEqual(['State', 'Tool', 'Subject', 'Run time']);
  });

  it('sorts calls by run time, calls without one last', () => {
    const rows = [{ runMs: 5 }, {}, { runMs: 9 }, { runMs: 1 }];
    expect(sortRows(rows, 'longest').map(({ runMs }) => runMs)).toEqual([9, 5, 1, undefined]);
    expect(sortRows(rows, 'shortest').map(({ runMs }) => runMs)).toEqual([1, 5, 9, undefined]);
    expect(sortRows(rows, undefined)).toBe(rows);
  });

  it('sorts calls by risk, in the same order within one, with calls without a decision at the end', () => {
    const risks = ['low', undefined, 'high', 'medium', 'high'] as const;
    const rows = risks.map((risk, index) => ({ n: index + 1, risk }));
    expect(sortRows(rows, 'risk').map(({ n }) => n)).toEqual([3, 5, 4, 1, 2]);
  });
});
