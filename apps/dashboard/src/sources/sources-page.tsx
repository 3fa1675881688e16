import { Badge, Select, Table, Text } from '@mantine/core';
import { IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { SourceSummary } from '#contracts';
import { escapeInvisible } from '#subject';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { QueryTable } from '../components/query-table.js';
import { EmptyState } from '../components/states.js';
import { Ago } from '../components/time.js';
import { useToolyard } from '../stream/toolyard.js';
import { ScopeOnly } from '../components/scope-only.js';
import { KIND_NAMES, ORIGINS, SourceState } from './source-parts.js';

const route = getRouteApi('/sources');
const ASK_MS = 3000;

/** Sources of tools that are not built in, with their health. */
export function SourcesPage() {
  return (
    <ScopeOnly scope="admin" title="Sources">
      <SourceList />
    </ScopeOnly>
  );
}

const SHOWN = [
  { value: 'attention', label: 'Need attention' },
  { value: 'mcp', label: 'MCP servers' },
  { value: 'openapi', label: 'OpenAPI' },
  { value: 'folder', label: 'Folders' },
  { value: 'worker', label: 'Foreign workers' },
  { value: 'agent', label: 'Sub-agents' },
  { value: 'plugin', label: 'npm plugins' },
];

function SourceList() {
  const { show } = route.useSearch();
  const navigate = route.useNavigate();
  const { client } = useToolyard();
  const sources = useQuery({
    queryKey: ['sources'],
    queryFn: ({ signal }) => client.sources.list({ signal }),
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
  const all = sources.data ?? [];
  const shown = all.filter(
    ({ kind, status, authorization }) =>
      show === undefined || kind === show || (show === 'attention' && (status !== 'ok' || authorization?.state === 'needed')),
  );
  return (
    <>
      <PageHead title="Sources" about="Where tools that are not built in come from.">
        <Select
          size="xs"
          aria-label="Which sources"
          placeholder="All sources"
          clearable
          data={SHOWN}
          value={show ?? null}
          onChange={(chosen) => void navigate({ search: chosen === null ? {} : { show: chosen }, replace: true })}
        />
        <LinkButton to="/sources/new" size="xs" leftSection={<IconPlus size={15} aria-hidden />}>
          Add a source
        </LinkButton>
      </PageHead>
      <QueryTable
        query={sources}
        label="Sources"
        minWidth={720}
        head={
          <>
            <Table.Th>Source</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th ta="right">Tools</Table.Th>
            <Table.Th>Reported</Table.Th>
          </>
        }
        empty={
          <EmptyState icon={IconPlugConnected} title={all.length === 0 ? 'No sources' : 'No such source'}>
            {all.length === 0 ? (
              <>All tools are built in. Add an MCP server or an API here, or name sources, folders and sub-agents in the config file.</>
            ) : (
              'Choose others above.'
            )}
          </EmptyState>
        }
      >
        {shown.map((source) => (
          <Row key={source.name} source={source} />
        ))}
      </QueryTable>
    </>
  );
}

function Row({ source }: { readonly source: SourceSummary }) {
  const { name, kind, origin, status, tools, pending, error, updatedAt, tenantId, authorization } = source;
  return (
    <Table.Tr data-row data-source={name}>
      <Table.Td maw={380} data-line>
        <LinkAnchor fw={550} size="sm" to="/sources/$source" params={{ source: name }}>
          {name}
        </LinkAnchor>
        {tenantId === '*' && (
          <Badge ml="xs" size="xs" variant="default" tt="none">
            all tenants
          </Badge>
        )}
        {error !== undefined && (
          <Text size="xs" c="var(--mantine-color-error)" lineClamp={2}>
            {escapeInvisible(error)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {KIND_NAMES[kind]}
        <Text size="xs" c="dimmed">
          {ORIGINS[origin]}
        </Text>
      </Table.Td>
      <Table.Td>
        <SourceState status={status} authorization={authorization} />
      </Table.Td>
      <Table.Td ta="right" data-label="Tools">
        {tools.toLocaleString()}
        {pending > 0 && (
          <Text size="xs" fw={600}>
            {pending} changed
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label="Reported">{updatedAt === undefined ? '–' : <Ago at={Date.parse(updatedAt)} />}</Table.Td>
    </Table.Tr>
  );
}
