import { Box, Grid, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { PageHead } from '../components/page-head.js';
import { PausedAt, useUnlessPaused } from '../components/paused.js';
import { ErrorState } from '../components/states.js';
import { TimeWindow, WINDOWS, type WindowName } from '../components/time-window.js';
import { durationText } from '../components/duration.js';
import { DURATION_STEPS } from '../components/duration-steps.js';
import { useNow } from '../components/time.js';
import { Chart, type ChartLine } from '../components/chart.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import type { CallSearch } from '../calls/call-search.js';
import { LinkAnchor } from '../components/links.js';
import { AgentList } from './agent-list.js';
import { FirstRun } from './first-run.js';
import { LiveTiles } from './live-tiles.js';
import { PauseButton } from './pause-button.js';
import { PoolTable } from './pool-table.js';
import { RunningGroups } from './running-groups.js';
import { useRecentCalls } from './use-recent-calls.js';
import { Series, type Percentiles, type Point } from '../stream/series.js';

const route = getRouteApi('/live');

const STEPS: Readonly<Record<WindowName, { readonly stepMs: number; readonly text: string }>> = {
  '10m': { stepMs: 10_000, text: '10 seconds' },
  '1h': { stepMs: 60_000, text: 'minute' },
  '24h': { stepMs: 1_800_000, text: 'half hour' },
  '7d': { stepMs: 10_800_000, text: '3 hours' },
  '30d': { stepMs: 86_400_000, text: 'day' },
};

const CALLS: readonly ChartLine[] = [
  { label: 'ok', color: ['#2b8a5e', '#51b88a'] },
  { label: 'error', color: ['#d9480f', '#ff8f5e'] },
  { label: 'denied', color: ['#9c36b5', '#cc7fe0'] },
];
const TIMES: readonly ChartLine[] = [
  { label: 'p50', color: ['#1c7ed6', '#4dabf7'], fill: true },
  { label: 'p95', color: ['#e8590c', '#ffa94d'] },
];

/** The live page. A person may stop its motion; another window resumes it. */
export function LivePage() {
  const { window = '10m' } = route.useSearch();
  const navigate = route.useNavigate();
  const [pausedAt, setPausedAt] = useState<number>();
  return (
    <>
      <PageHead title="Live" about="What your agents do at this moment.">
        <PauseButton pausedAt={pausedAt} onChange={setPausedAt} />
        <TimeWindow
          value={window}
          names={['10m', '1h', '24h', '7d', '30d']}
          onChange={(chosen) => {
            setPausedAt(undefined);
            void navigate({ search: { window: chosen } });
          }}
        />
      </PageHead>
      <PausedAt value={pausedAt}>
        <LiveContent window={window} />
      </PausedAt>
    </>
  );
}

/** Starts with the numbers of the gateway, updated by events. */
function LiveContent({ window }: { readonly window: WindowName }) {
  const { seed, points } = useSeries(window);
  const recent = useRecentCalls();
  const last = points.at(-2) ?? points.at(-1);
  return (
    <>
      {recent.rows?.length === 0 ? <FirstRun /> : <AgentList recent={recent} />}
      <LiveTiles />
      {seed.isError && (
        <Box mt="md">
          <ErrorState error={seed.error} onRetry={() => void seed.refetch()} />
        </Box>
      )}
      <Grid gap="md" mt="md">
        <Grid.Col span={12}>
          <Chart
            title={`Calls that ended, by ${STEPS[window].text}`}
            stacked
            lines={CALLS}
            format={countText}
            atLeast={4}
            data={chartData(points, endsOf)}
            summary={last ? endsText(endsOf(last)) : 'nothing yet'}
          >
            <CallsLink since={window}>all</CallsLink>
            <CallsLink since={window} filter={{ result: 'error', outcome: 'completed,failed,timed_out,unknown' }}>
              errors
            </CallsLink>
            <CallsLink since={window} filter={{ outcome: 'denied' }}>
              denied
            </CallsLink>
          </Chart>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Chart
            title="Time in the queue"
            lines={TIMES}
            format={durationText}
            steps={DURATION_STEPS}
            atLeast={10}
            data={chartData(points, ({ wait }) => [wait.p50, wait.p95])}
            summary={summaryOf(last?.wait)}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Chart
            title="Run time"
            lines={TIMES}
            format={durationText}
            steps={DURATION_STEPS}
            atLeast={10}
            data={chartData(points, ({ run }) => [run.p50, run.p95])}
            summary={summaryOf(last?.run)}
          />
        </Grid.Col>
      </Grid>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" mt="md">
        <PoolTable />
        <RunningGroups />
      </SimpleGrid>
    </>
  );
}

interface CallsLinkProps {
  readonly since: WindowName;
  readonly filter?: CallSearch;
  readonly children: string;
}

function CallsLink({ since, filter = {}, children }: CallsLinkProps) {
  return (
    <LinkAnchor size="xs" underline="always" to="/calls" search={{ ...filter, since }}>
      {children}
    </LinkAnchor>
  );
}

/** The numbers of the window: loaded once, then updated by events. Drawn twice a second. */
function useSeries(window: WindowName) {
  const { client, board } = useToolyard();
  const series = useMemo(() => new Series(STEPS[window].stepMs, WINDOWS[window] / STEPS[window].stepMs), [window]);
  const seed = useQuery({
    queryKey: ['stats', window],
    queryFn: ({ signal }) =>
      client.stats.overview({ since: new Date(Date.now() - WINDOWS[window]).toISOString(), stepMs: STEPS[window].stepMs }, { signal }),
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
  return { seed, points: useUnlessPaused(points) };
}

type Values = readonly (number | undefined)[];

function chartData(points: readonly Point[], values: (point: Point) => Values): (number | null)[][] {
  const rows = points.map(values);
  const lines = Array.from({ length: rows[0]?.length ?? 0 }, (_, line) => rows.map((row) => row[line] ?? null));
  return [points.map(({ at }) => at / 1000), ...lines];
}

/** Calls of one step: fine, failed in any way, denied. */
function endsOf({ ends: { ended, failed, denied } }: Point): [ok: number, failed: number, denied: number] {
  const bad = [Math.round(failed), Math.round(denied)] as const;
  return [Math.max(0, Math.round(ended) - bad[0] - bad[1]), ...bad];
}

function endsText([ok, failed, denied]: readonly number[]): string {
  return `${ok} ok, ${failed} with an error, ${denied} denied in the last whole step`;
}

function countText(count: number): string {
  return Number.isInteger(count) ? count.toLocaleString() : '';
}

function summaryOf({ p50, p95 }: Percentiles = {}): string {
  return p50 === undefined || p95 === undefined ? 'nothing measured just now' : `p50 ${durationText(p50)}, p95 ${durationText(p95)}`;
}
