import { expect, it } from '@jest/globals';
import type { UsageRow } from '#contracts';
import { byName, seriesOf, totalOf } from './usage-sums.js';

const HOUR_MS = 3_600_000;
const FROM = Date.parse('2026-01-31T10:20:00Z');

function row(hour: number, agentId: string | undefined, changes: Partial<UsageRow> = {}): UsageRow {
  const at = new Date(Date.parse('2026-01-31T00:00:00Z') + hour * HOUR_MS).toISOString();
  const sums = { calls: 1, failed: 0, denied: 0, approvals: 0, runMs: 10, waitMs: 2, outputBytes: 5, cpuCalls: 0 };
  return { at, ...(agentId === undefined ? {} : { agentId }), ...sums, ...changes };
}

it('sums usage rows, and omits CPU time that is unknown for all calls', () => {
  expect(totalOf([row(10, 'a'), row(11, 'a')])).toMatchObject({ calls: 2, runMs: 20, waitMs: 4 });
  expect(totalOf([row(10, 'a')]).cpuMs).toBeUndefined();
  expect(totalOf([row(10, 'a'), row(10, 'b', { cpuMs: 7, cpuCalls: 1 })])).toMatchObject({ cpuMs: 7, cpuCalls: 1 });
});

it('orders agents by a measure, including calls without an agent', () => {
  const rows = [row(10, 'a', { runMs: 1 }), row(10, undefined, { runMs: 9 }), row(11, 'a', { runMs: 2 })];
  expect(byName(rows, 'runMs').map(({ name, sums }) => [name, sums.runMs])).toEqual([
    [undefined, 9],
    ['a', 3],
  ]);
});

it('shows every hour of the period, also empty ones, and merges the smallest parts', () => {
  const rows = [row(10, 'a', { calls: 5 }), row(12, 'b', { calls: 3 }), row(12, 'c'), row(10, undefined, { calls: 2 })];
  const period = { from: FROM, until: FROM + 2 * HOUR_MS, stepMs: HOUR_MS };
  const { times, lines } = seriesOf(rows, 'calls', period, 3);
  expect(times.map((time) => new Date(time).getUTCHours())).toEqual([10, 11, 12]);
  expect(lines).toEqual([
    { name: 'a', values: [5, 0, 0] },
    { name: 'b', values: [0, 0, 3] },
    { name: 'others', values: [2, 0, 1] },
  ]);
  expect(seriesOf(rows, 'calls', period, 4).lines.map(({ name }) => name)).toEqual(['a', 'b', 'no agent', 'c']);
});
