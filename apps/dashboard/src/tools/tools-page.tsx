import { Badge, Group, NativeSelect, Table, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ToolDescriptor, ToolStats } from '#contracts';
import { escapeInvisible } from '#subject';
import { durationText } from '../components/duration.js';
import { LinkAnchor } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import stacked from '../components/stacked.module.css';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { TimeWindow, WINDOWS } from '../components/time-window.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { sortedTools, toolGroups, ToolOrder } from './tool-order.js';

const route = getRouteApi('/tools');
const ORDERS = [
  { value: 'name', label: 'By name' },
  { value: 'calls', label: 'Most calls' },
  { value: 'failing', label: 'Most failing' },
  { value: 'slow', label: 'Slowest, p95' },
];
const TIERS = { read_only: 'teal', side_effecting: 'yellow', privileged: 'red' } as const;

/** The catalog with statistics of each tool. */
export function ToolsPage() {
  const { window = '24h', sort = 'name' } = route.useSearch();
  const navigate = route.useNavigate();
  const { client } = useToolyard();
  const [text, setText] = useState('');
  const list = useRowKeys<HTMLDivElement>();
  const tools = useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => client.tools.list({}, { signal }), staleTime: 60_000 });
  const stats = useQuery({
    queryKey: ['tool-stats', window],
    queryFn: ({ signal }) => client.stats.tools({ since: new Date(Date.now() - WINDOWS[window]).toISOString() }, { signal }),
    refetchInterval: 10_000,
  });
  const byName = new Map(stats.data?.tools.map((each) => [each.tool, each]));
  const sorting = { sort, onSort: (by: ToolOrder) => void navigate({ search: { window, sort: by } }) };
  const words = text.trim().toLowerCase();
  const shown = (tools.data ?? []).filter(({ name, label, description }) =>
    `${name} ${label} ${description}`.toLowerCase().includes(words),
  );
  return (
    <>
      <PageHead title="Tools" about="What agents may call here. Open one to try it.">
        <TextInput
          size="xs"
          aria-label="Search tools"
          placeholder="Search"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <NativeSelect
          size="xs"
          hiddenFrom="sm"
          aria-label="Order of the tools"
          value={sort}
          onChange={({ currentTarget }) => sorting.onSort(ToolOrder.parse(currentTarget.value))}
          data={ORDERS}
        />
        <TimeWindow
          value={window}
          names={['1h', '24h', '7d', '30d']}
          onChange={(chosen) => void navigate({ search: { ...(sort === 'name' ? {} : { sort }), window: chosen } })}
        />
      </PageHead>
      {tools.isPending && <LoadingRows />}
      {tools.isError && <ErrorState error={tools.error} onRetry={() => void tools.refetch()} />}
      {stats.isError && <ErrorState error={stats.error} onRetry={() => void stats.refetch()} />}
      {tools.isSuccess && shown.length === 0 && (
        <EmptyState title={words === '' ? 'No tools' : 'No tool fits'}>
          {words === '' ? 'This key may not use any tool.' : 'Try other words; names, labels and descriptions are looked through.'}
        </EmptyState>
      )}
      {shown.length > 0 && (
        <Table.ScrollContainer minWidth={860} className={stacked['stacked']} ref={list}>
          <Table verticalSpacing={3} highlightOnHover aria-label="Tools">
            <Table.Thead>
              <Table.Tr>
                <SortHead order="name" {...sorting}>
                  Tool
                </SortHead>
                <Table.Th>Kind</Table.Th>
                <Table.Th>Pool</Table.Th>
                <SortHead order="calls" {...sorting}>
                  Calls
                </SortHead>
                <SortHead order="failing" {...sorting}>
                  Failing
                </SortHead>
                <Table.Th ta="right">Wait p50 / p95</Table.Th>
                <SortHead order="slow" {...sorting}>
                  Run p50 / p95 / p99
                </SortHead>
              </Table.Tr>
            </Table.Thead>
            {toolGroups(shown).map(([source, list]) => (
              <Table.Tbody key={source} data-source={source}>
                <Table.Tr>
                  <Table.Th colSpan={7} scope="rowgroup">
                    <SourceHead source={source} tools={list} />
                  </Table.Th>
                </Table.Tr>
                {sortedTools(list, byName, sort).map((tool) => (
                  <ToolRow key={tool.name} tool={tool} stats={byName.get(tool.name)} />
                ))}
              </Table.Tbody>
            ))}
          </Table>
        </Table.ScrollContainer>
      )}
    </>
  );
}

const NO_WRAP = { whiteSpace: 'nowrap' } as const;

interface SortHeadProps {
  readonly order: ToolOrder;
  readonly sort: ToolOrder;
  readonly onSort: (order: ToolOrder) => void;
  readonly children: string;
}

/** The head of a column by which the tools of each source are sorted: names from a, figures from the highest. */
function SortHead({ order, sort, onSort, children }: SortHeadProps) {
  const isChosen = order === sort;
  return (
    <Table.Th
      ta={order === 'name' ? 'left' : 'right'}
      {...(isChosen ? { 'aria-sort': order === 'name' ? ('ascending' as const) : ('descending' as const) } : {})}
    >
      <UnstyledButton fz="sm" fw={700} onClick={() => onSort(order)}>
        {children} <span aria-hidden>{isChosen ? (order === 'name' ? '↑' : '↓') : '↕'}</span>
      </UnstyledButton>
    </Table.Th>
  );
}

/** Name of a source with its tools; links to their calls. */
function SourceHead({ source, tools }: { readonly source: string; readonly tools: readonly ToolDescriptor[] }) {
  return (
    <>
      {source === 'builtin' ? 'Built in' : escapeInvisible(source)}{' '}
      <Text span size="xs" c="dimmed" fw={400}>
        {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
      </Text>
    </>
  );
}

function ToolRow({ tool, stats }: { readonly tool: ToolDescriptor; readonly stats: ToolStats | undefined }) {
  const isUnused = stats === undefined || undefined;
  return (
    <Table.Tr data-tool={tool.name} data-row>
      <Table.Td maw={380} data-line>
        <Group gap="xs" wrap="nowrap">
          <LinkAnchor fw={550} size="sm" to="/tools/$tool" params={{ tool: tool.name }}>
            {tool.name}
          </LinkAnchor>
          {!tool.available.ok && (
            <Badge size="xs" variant="dot" color="red" tt="none" miw="max-content">
              not available
            </Badge>
          )}
          <Text size="xs" c="dimmed" truncate flex="1 1 0" miw={0}>
            {tool.label === tool.name ? '' : tool.label}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td>
        <Badge size="sm" variant="dot" color={TIERS[tool.tier]} tt="none" miw="max-content">
          {tool.tier.replace('_', ' ')}
        </Badge>
      </Table.Td>
      <Table.Td data-label="Pool">{tool.pool}</Table.Td>
      <Table.Td ta="right" data-label="Calls" data-empty={isUnused}>
        {stats === undefined ? (
          '–'
        ) : (
          <LinkAnchor size="sm" to="/calls" search={{ tool: tool.name }}>
            {stats.calls.toLocaleString()}
          </LinkAnchor>
        )}
      </Table.Td>
      <Table.Td
        ta="right"
        data-label="Failing"
        data-empty={isUnused}
        {...(stats && stats.failed > 0 ? { c: 'var(--mantine-color-error)' } : {})}
      >
        {stats === undefined ? '–' : `${(100 * stats.errorRate).toFixed(stats.errorRate > 0 && stats.errorRate < 0.1 ? 1 : 0)} %`}
      </Table.Td>
      <Table.Td ta="right" style={NO_WRAP} data-label="Wait p50 / p95" data-empty={isUnused}>
        {timesText([stats?.wait.p50, stats?.wait.p95])}
      </Table.Td>
      <Table.Td ta="right" style={NO_WRAP} data-label="Run p50 / p95 / p99" data-empty={isUnused}>
        {timesText([stats?.run.p50, stats?.run.p95, stats?.run.p99])}
      </Table.Td>
    </Table.Tr>
  );
}

function timesText(times: readonly (number | undefined)[]): string {
  return times.every((time) => time === undefined) ? '–' : times.map((time) => (time === undefined ? '–' : durationText(time))).join(' / ');
}
