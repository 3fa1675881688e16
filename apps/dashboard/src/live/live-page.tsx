import { Grid, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { PageHead } from '../components/page-head.js';
import { ErrorState } from '../components/states.js';
import { TimeWindow, WINDOWS, type WindowName } from '../components/time-window.js';
import { durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';
import { Chart, type ChartLine } from '../components/chart.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import { LiveTiles } from './live-tiles.js';
import { PoolTable } from './pool-table.js';
import { RunningBy } from './running-by.js';
import { Series, type Point } from '../stream/series.js';

const route = getRouteApi('/live');

const STEPS: Readonly<Record<WindowName, { readonly stepMs: number; readonly statsStepMs: number }>> = {
  '10m': { stepMs: 2000, statsStepMs: 10_000 },
  '1h': { stepMs: 10_000, statsStepMs: 10_000 },
  '24h': { stepMs: 300_000, statsStepMs: 300_000 },
  '7d': { stepMs: 3_600_000, statsStepMs: 3_600_000 },
};

const CALLS: readonly ChartLine[] = [
  { label: 'in', color: ['#1c7ed6', '#4dabf7'], fill: true },
  { label: 'out', color: ['#0b7285', '#63e6be'] },
  { label: 'failing', color: ['#c92a2a', '#ff8787'], fill: true },
  { label: 'error results', color: ['#c2410c', '#ffa94d'], dash: [4, 3] },
];
const TIMES: readonly ChartLine[] = [
  { label: 'p50', color: ['#1c7ed6', '#4dabf7'] },
  { label: 'p95', color: ['#e8590c', '#ffa94d'] },
  { label: 'p99', color: ['#c92a2a', '#ff8787'], dash: [4, 3] },
];

/** The live page: starts with the numbers of the gateway, updated by events. */
export function LivePage() {
  const { window = '10m' } = route.useSearch();
  const navigate = route.useNavigate();
  const { seed, points } = useSeries(window);
  const last = points.at(-2) ?? points.at(-1);
  return (
    <>
      <PageHead title="Live" about="What your agents do at this moment.">
        <TimeWindow
          value={window}
          names={['10m', '1h', '24h', '7d']}
          onChange={(chosen) => void navigate({ search: { window: chosen } })}
        />
      </PageHead>
      <LiveTiles />
      {seed.isError && <ErrorState error={seed.error} onRetry={() => void seed.refetch()} />}
      <Grid gap="md" mt="md">
        <Grid.Col span={12}>
          <Chart
            title="Calls a second"
            lines={CALLS}
            format={rateText}
            atLeast={1}
            data={chartData(points, (point) => [point.submitted, point.ended, point.failed, point.errors])}
            summary={last ? callsSummary(last) : 'nothing yet'}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Chart
            title="Waiting"
            lines={TIMES}
            format={durationText}
            atLeast={10}
            data={chartData(points, ({ wait }) => [wait.p50, wait.p95, wait.p99])}
            summary={summaryOf(last?.wait.p50, last?.wait.p99)}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Chart
            title="Running"
            lines={TIMES}
            format={durationText}
            atLeast={10}
            data={chartData(points, ({ run }) => [run.p50, run.p95, run.p99])}
            summary={summaryOf(last?.run.p50, last?.run.p99)}
          />
        </Grid.Col>
      </Grid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" mt="md">
        <PoolTable />
        <RunningBy />
      </SimpleGrid>
    </>
  );
}

/** The numbers of the window: loaded once, then updated by events. Drawn twice a second. */
function useSeries(window: WindowName) {
  const { client, board } = useToolyard();
  const series = useMemo(() => new Series(STEPS[window].stepMs, WINDOWS[window] / STEPS[window].stepMs), [window]);
  const seed = useQuery({
    queryKey: ['stats', window],
    queryFn: ({ signal }) =>
      client.stats.overview({ since: new Date(Date.now() - WINDOWS[window]).toISOString(), stepMs: STEPS[window].statsStepMs }, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
  useEffect(() => board.show(series), [board, series]);
  useEffect(() => {
    if (seed.data) series.seed(seed.data.series, seed.data.stepMs, Date.parse(seed.data.until));
  }, [series, seed.data]);
  useFrames(board);
  const now = useNow();
  const points = useMemo(() => series.points(now), [series, now]);
  return { seed, points };
}

type Values = readonly (number | undefined)[];

function chartData(points: readonly Point[], values: (point: Point) => Values): (number | null)[][] {
  const rows = points.map(values);
  const lines = Array.from({ length: rows[0]?.length ?? 0 }, (_, line) => rows.map((row) => row[line] ?? null));
  return [points.map(({ at }) => at / 1000), ...lines];
}

function rateText(rate: number): string {
  if (rate === 0) return '0/s';
  if (rate < 1) return `${rate.toFixed(2)}/s`;
  return rate < 10 ? `${rate.toFixed(1)}/s` : `${Math.round(rate).toLocaleString()}/s`;
}

function callsSummary({ submitted, ended, failed, errors }: Point): string {
  return `${rateText(submitted)} in, ${rateText(ended)} out, ${rateText(failed)} failing, ${rateText(errors)} of these with an error result`;
}

function summaryOf(p50: number | undefined, p99: number | undefined): string {
  return p50 === undefined || p99 === undefined
    ? 'nothing measured just now'
    : `half within ${durationText(p50)}, 99 % within ${durationText(p99)}`;
}
