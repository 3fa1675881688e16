import { Badge, Button, Group, NativeSelect, SegmentedControl } from '@mantine/core';
import { IconDownload, IconReportAnalytics } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { escapeInvisible, usageCsv } from '#subject';
import { durationText } from '../components/duration.js';
import { PageHead } from '../components/page-head.js';
import { saveFile } from '../components/save-file.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { TimeWindow, WINDOWS } from '../components/time-window.js';
import { useToolyard } from '../stream/toolyard.js';
import { useScopes } from '../stream/use-scopes.js';
import { MEASURES } from './measures.js';
import { UsageChart } from './usage-chart.js';
import { UsageBy, UsageWindow, type UsageSearch } from './usage-search.js';
import { byName, Measure, totalOf } from './usage-sums.js';
import { UsageTable } from './usage-table.js';
import { UsageTiles } from './usage-tiles.js';

/** Answers are always a little behind the log; less than this does not show in figures of hours. */
const SHOWN_BEHIND_MS = 5000;

const route = getRouteApi('/usage');
const ASK_MS = 30_000;

/** Usage by the agents and tools of the tenant, or of all tenants: calls, failures, times, CPU. */
export function UsagePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { window = '7d', by = 'agent', measure = 'calls', agentId, tool } = search;
  const change = (changes: Partial<UsageSearch>) => void navigate({ search: { ...search, ...changes }, replace: true });
  const { lacks } = useScopes();
  const { usage, period } = useUsage(search);
  const rows = usage.data?.rows ?? [];
  const named = useMemo(() => byName(usage.data?.rows ?? [], measure), [usage.data, measure]);
  const total = useMemo(() => totalOf(usage.data?.rows ?? []), [usage.data]);
  return (
    <>
      <PageHead
        title="Usage"
        about={
          usage.data === undefined || by === 'tenant'
            ? 'What agents, tools and tenants used.'
            : `Of the tenant ${usage.data.tenantId}: calls that ended in this time.`
        }
      >
        <SegmentedControl
          size="xs"
          aria-label="Whose calls a row is about"
          value={by}
          onChange={(chosen) => change({ by: UsageBy.parse(chosen) })}
          data={[
            { value: 'agent', label: 'By agent' },
            { value: 'tool', label: 'By tool' },
            ...(lacks('operate') === undefined || by === 'tenant' ? [{ value: 'tenant', label: 'By tenant' }] : []),
          ]}
        />
        <NativeSelect
          size="xs"
          aria-label="What is measured"
          value={measure}
          onChange={({ currentTarget }) => change({ measure: Measure.parse(currentTarget.value) })}
          data={Measure.options.map((value) => ({ value, label: MEASURES[value].label }))}
        />
        <TimeWindow value={window} names={UsageWindow.options} onChange={(chosen) => change({ window: UsageWindow.parse(chosen) })} />
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          disabled={usage.data === undefined}
          onClick={() => usage.data && saveFile(usageCsv(usage.data), `usage-by-${by}-${window}.csv`, 'text/csv')}
        >
          CSV
        </Button>
      </PageHead>
      <Only agentId={agentId} tool={tool} onClear={() => change({ agentId: undefined, tool: undefined })} />
      {usage.isPending && <LoadingRows />}
      {usage.isError && <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data?.behind !== undefined && usage.data.behind.ms >= SHOWN_BEHIND_MS && (
        <Badge variant="light" color="yellow" tt="none" mb="sm">
          Without calls of the last {durationText(usage.data.behind.ms)}
        </Badge>
      )}
      {usage.isSuccess && rows.length === 0 && (
        <EmptyState icon={IconReportAnalytics} title="No calls ended in this time">
          Numbers are of calls that lists still have, in whole {window === '24h' ? 'hours' : 'days'} (UTC). Choose a longer time above.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <UsageTiles total={total} />
          <UsageChart rows={rows} measure={measure} by={by} period={period} />
          <UsageTable named={named} rows={rows} by={by} measure={measure} period={period} total={total} address={search} />
        </>
      )}
    </>
  );
}

interface OnlyProps {
  readonly agentId: string | undefined;
  readonly tool: string | undefined;
  readonly onClear: () => void;
}

/** States that the numbers are of one agent or tool. */
function Only({ agentId, tool, onClear }: OnlyProps) {
  if (agentId === undefined && tool === undefined) return null;
  return (
    <Group gap="xs" mb="sm">
      <Badge variant="default" size="lg" tt="none">
        {agentId === undefined ? `tool ${escapeInvisible(tool ?? '')}` : `agent ${escapeInvisible(agentId)}`}
      </Badge>
      <Button size="compact-xs" variant="default" onClick={onClear}>
        Show all
      </Button>
    </Group>
  );
}

/** Hours of a day, days of more: in whole ones, as the gateway counts them. */
function useUsage({ window = '7d', by = 'agent', agentId, tool }: UsageSearch) {
  const { client } = useToolyard();
  const per = window === '24h' ? 'hour' : 'day';
  const stepMs = per === 'hour' ? WINDOWS['24h'] / 24 : WINDOWS['24h'];
  const usage = useQuery({
    queryKey: ['usage', window, by, agentId, tool],
    queryFn: async ({ signal }) => {
      const until = Date.now();
      const since = until - WINDOWS[window];
      const only = { agentId, tool };
      const page = await client.stats.usage({ since: new Date(since).toISOString(), per, by, ...only }, { signal });
      return { ...page, since, until };
    },
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
  const { since, until } = usage.data ?? { since: 0, until: 0 };
  const period = useMemo(() => ({ from: since, until, stepMs }), [since, until, stepMs]);
  return { usage, period };
}
