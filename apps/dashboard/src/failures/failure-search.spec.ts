import { expect, it } from '@jest/globals';
import type { FailureGroup } from '#contracts';
import { failureSums, shownGroups } from './failure-search.js';

const HOUR = 3_600_000;
const at = (hour: number) => new Date(hour * HOUR).toISOString();
const group = (fingerprint: string, more: Partial<FailureGroup>): FailureGroup => ({
  fingerprint,
  tool: 'shell',
  message: '',
  count: 1,
  firstSeen: at(100),
  lastSeen: at(100),
  previousSeen: at(99),
  lastCallId: 'c',
  counts: [0, 1],
  agents: { count: 0, names: [] },
  sessions: { count: 0, names: [] },
  ...more,
});
const GROUPS = [
  group('build', { count: 9, message: 'exit 2 · error TS2551', counts: [4, 5], agents: { count: 1, names: ['coder'] } }),
  group('fetch', { count: 3, tool: 'web_fetch', code: 'run_timeout', lastSeen: at(103) }),
  group('new', { count: 2, lastSeen: at(102), previousSeen: undefined }),
];
const names = (groups: readonly FailureGroup[]) => groups.map(({ fingerprint }) => fingerprint).join();

it('shows groups with most calls, the last failure, or new ones first', () => {
  expect(names(shownGroups(GROUPS, {}, HOUR * 24))).toBe('build,fetch,new');
  expect(names(shownGroups(GROUPS, { sort: 'last' }, HOUR * 24))).toBe('fetch,new,build');
  expect(names(shownGroups(GROUPS, { sort: 'new' }, HOUR * 24))).toBe('new,fetch,build');
});

it('finds groups by words of their message, code, tool and agent, in any order and case', () => {
  expect(names(shownGroups(GROUPS, { q: 'ts2551 Coder' }, HOUR))).toBe('build');
  expect(names(shownGroups(GROUPS, { q: 'run_timeout' }, HOUR))).toBe('fetch');
  expect(names(shownGroups(GROUPS, { q: 'error result' }, HOUR))).toBe('build,new');
  expect(names(shownGroups(GROUPS, { q: 'coder web_fetch' }, HOUR))).toBe('');
});

it('sums groups of failures by part of the period, and counts those that are new or back', () => {
  expect(failureSums(GROUPS, HOUR * 24)).toEqual({ calls: 14, fresh: 1, counts: [4, 7] });
  expect(failureSums([], HOUR)).toEqual({ calls: 0, fresh: 0, counts: [] });
});
