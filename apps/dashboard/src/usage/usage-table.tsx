import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { UsageRow } from '#contracts';
import { escapeInvisible } from '#subject';
import type { CallSearch } from '../calls/call-search.js';
import { bytesText } from '../components/bytes.js';
import { durationText } from '../components/duration.js';
import { LinkAnchor } from '../components/links.js';
import { Sparkline } from '../components/sparkline.js';
import stacked from '../components/stacked.module.css';
import { useRowKeys } from '../components/use-row-keys.js';
import { MEASURES } from './measures.js';
import type { UsageBy, UsageSearch } from './usage-search.js';
import { NO_AGENT, seriesOf, type Measure, type NamedSums, type Period, type Sums } from './usage-sums.js';
import { shareText } from './usage-tiles.js';

interface UsageTableProps {
  readonly named: readonly NamedSums[];
  readonly rows: readonly UsageRow[];
  readonly by: UsageBy;
  readonly measure: Measure;
  readonly period: Period;
  readonly total: Sums;
  /** The address: which agent or tool alone is counted. */
  readonly address: UsageSearch;
}

const HEADS = { agent: 'Agent', tool: 'Tool', tenant: 'Tenant' } as const;

/** A row for each agent, tool or tenant; its numbers lead to the calls. */
export function UsageTable({ named, rows, by, measure, period, total, address }: UsageTableProps) {
  const list = useRowKeys<HTMLDivElement>();
  const { lines } = seriesOf(rows, measure, period, named.length);
  const valuesOf = (name: string | undefined) => lines.find((line) => line.name === (name ?? NO_AGENT))?.values ?? [];
  return (
    <Table.ScrollContainer minWidth={900} className={stacked['stacked']} ref={list} mt="md">
      <Table verticalSpacing="xs" highlightOnHover aria-label={`Usage by ${by}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{HEADS[by]}</Table.Th>
            <Table.Th>{MEASURES[measure].label} over time</Table.Th>
            <Table.Th ta="right">Calls</Table.Th>
            <Table.Th ta="right">Failures</Table.Th>
            <Table.Th ta="right">Denied</Table.Th>
            <Table.Th ta="right">Waited</Table.Th>
            <Table.Th ta="right">Ran</Table.Th>
            <Table.Th ta="right">CPU</Table.Th>
            <Table.Th ta="right">Output</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {named.map(({ name, sums }) => (
            <Row
              key={name ?? ''}
              name={name}
              sums={sums}
              by={by}
              since={new Date(period.from).toISOString()}
              share={shareText(sums[measure] ?? 0, total[measure] ?? 0)}
              values={valuesOf(name)}
              address={address}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface RowProps extends Pick<UsageTableProps, 'by' | 'address'>, NamedSums {
  readonly since: string;
  readonly share: string;
  readonly values: readonly number[];
}

function Row({ name, sums, by, since, share, values, address }: RowProps) {
  const { calls, failed, denied, waitMs, runMs, cpuMs, outputBytes } = sums;
  const whose = by === 'agent' ? { agentId: name } : { tool: name };
  const { agentId, tool } = { ...address, ...(name === undefined ? {} : whose) };
  const search: CallSearch = { agentId, tool, since };
  return (
    <Table.Tr data-row data-usage={name ?? ''}>
      <Table.Td maw={260} data-line>
        {name === undefined ? (
          <Text size="sm" fs="italic">
            {NO_AGENT}
          </Text>
        ) : by === 'tenant' ? (
          <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
            {escapeInvisible(name)}
          </Text>
        ) : (
          <LinkAnchor
            data-open
            size="sm"
            fw={550}
            to="/usage"
            search={{ ...address, ...whose, by: by === 'agent' ? 'tool' : 'agent' }}
            title={by === 'agent' ? 'The tools that it used' : 'The agents that used it'}
            style={{ overflowWrap: 'anywhere' }}
          >
            {escapeInvisible(name)}
          </LinkAnchor>
        )}
        <Text size="xs" c="dimmed">
          {share}
        </Text>
      </Table.Td>
      <Table.Td>
        <Sparkline counts={values} marked={values.map(() => false)} label={`Over time, in ${values.length} steps`} />
      </Table.Td>
      <Table.Td ta="right" data-label="Calls">
        <CallsLink by={by} search={search}>
          {calls.toLocaleString()}
        </CallsLink>
      </Table.Td>
      <Table.Td ta="right" data-label="Failures">
        {failed === 0 ? (
          '0'
        ) : (
          <CallsLink by={by} search={{ ...search, result: 'error', outcome: 'completed,failed,timed_out,unknown' }}>
            {failed.toLocaleString()} ({shareText(failed, calls)})
          </CallsLink>
        )}
      </Table.Td>
      <Table.Td ta="right" data-label="Denied">
        {denied === 0 ? (
          '0'
        ) : (
          <CallsLink by={by} search={{ ...search, outcome: 'denied' }}>
            {denied.toLocaleString()}
          </CallsLink>
        )}
      </Table.Td>
      <Table.Td ta="right" data-label="Waited">
        {durationText(waitMs)}
      </Table.Td>
      <Table.Td ta="right" data-label="Ran">
        {durationText(runMs)}
      </Table.Td>
      <Table.Td ta="right" data-label="CPU">
        {cpuMs === undefined ? '–' : durationText(cpuMs)}
      </Table.Td>
      <Table.Td ta="right" data-label="Output">
        {bytesText(outputBytes)}
      </Table.Td>
    </Table.Tr>
  );
}

interface CallsLinkProps {
  readonly by: UsageBy;
  readonly search: CallSearch;
  readonly children: ReactNode;
}

/** Calls of another tenant are read with a key of that tenant only. */
function CallsLink({ by, search, children }: CallsLinkProps) {
  if (by === 'tenant') return <>{children}</>;
  return (
    <LinkAnchor size="sm" to="/calls" search={search}>
      {children}
    </LinkAnchor>
  );
}
