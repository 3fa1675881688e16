import { useMemo } from 'react';
import type { UsageRow } from '#contracts';
import { escapeInvisible } from '#subject';
import { Chart, type ChartLine } from '../components/chart.js';
import { MEASURES } from './measures.js';
import type { UsageBy } from './usage-search.js';
import { seriesOf, type Measure, type Period } from './usage-sums.js';

/** Apart by hue and by lightness, for people who see few hues; the last is for all others. */
const COLORS: readonly (readonly [light: string, dark: string])[] = [
  ['#1f74cc', '#6fb1f2'],
  ['#e8590c', '#ffa94d'],
  ['#2b8a5e', '#7fd6ae'],
  ['#862e9c', '#d6a3e6'],
  ['#c99700', '#ffe08a'],
];
const OTHERS = ['#868e96', '#909296'] as const;

interface UsageChartProps {
  readonly rows: readonly UsageRow[];
  readonly measure: Measure;
  readonly by: UsageBy;
  readonly period: Period;
}

/** A measure over time, in parts by agent or tool. */
export function UsageChart({ rows, measure, by, period }: UsageChartProps) {
  const { times, lines } = useMemo(() => seriesOf(rows, measure, period, COLORS.length + 1), [rows, measure, period]);
  const names = lines.map(({ name }) => escapeInvisible(name)).join('\n');
  const drawn = useMemo(() => names.split('\n').map((label, index): ChartLine => ({ label, color: COLORS[index] ?? OTHERS })), [names]);
  const data = useMemo(() => [times.map((time) => time / 1000), ...lines.map(({ values }) => [...values])], [times, lines]);
  const { label, format, atLeast } = MEASURES[measure];
  if (lines.length === 0) return null;
  return (
    <Chart
      title={`${label} by ${by}, a ${period.stepMs < 86_400_000 ? 'hour' : 'day'}`}
      stacked
      isUtc={period.stepMs >= 86_400_000}
      lines={drawn}
      data={data}
      format={format}
      atLeast={atLeast}
      summary={lines.map(({ name, values }) => `${name} ${format(values.reduce((sum, value) => sum + value, 0))}`).join(', ')}
    />
  );
}
