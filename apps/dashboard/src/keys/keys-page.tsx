import { Switch, Table, Text, VisuallyHidden } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ApiKey } from '#contracts';
import { escapeInvisible } from '#subject';
import { ScopeOnly } from '../components/scope-only.js';
import { LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { QueryTable } from '../components/query-table.js';
import { EmptyState } from '../components/states.js';
import { Ago } from '../components/time.js';
import { useToolyard } from '../stream/toolyard.js';
import { useScopes } from '../stream/use-scopes.js';
import { KeyActions } from './key-actions.js';
import { KeyRights, KeyState, keyNameOf, KeyCreator } from './key-parts.js';

const route = getRouteApi('/keys');
const ASK_MS = 10_000;

/** The API keys of the tenant: what each may do, who made it, and when it was used. */
export function KeysPage() {
  return (
    <ScopeOnly scope="admin" title="Keys">
      <KeyList />
    </ScopeOnly>
  );
}

function KeyList() {
  const { ended } = route.useSearch();
  const navigate = route.useNavigate();
  const { client } = useToolyard();
  const { keyId } = useScopes();
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => client.keys.list({ signal }),
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
  const shown = (keys.data ?? []).filter(({ status }) => ended !== undefined || status === 'active');
  return (
    <>
      <PageHead title="Keys" about="What programs and people call with. A key may do no more than the one that makes it.">
        <Switch
          size="sm"
          label="Ended ones too"
          checked={ended !== undefined}
          onChange={({ currentTarget }) => void navigate({ search: currentTarget.checked ? { ended: 'shown' } : {}, replace: true })}
        />
        <LinkButton to="/keys/new" size="xs" leftSection={<IconPlus size={15} aria-hidden />}>
          New key
        </LinkButton>
      </PageHead>
      <QueryTable
        query={keys}
        label="Keys"
        minWidth={900}
        head={
          <>
            <Table.Th>Key</Table.Th>
            <Table.Th>May</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Made by</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </>
        }
        empty={
          <EmptyState icon={IconKey} title="No keys">
            Everyone here has signed in. Programs need a key: make one for each, with what it may do.
          </EmptyState>
        }
      >
        {shown.map((key) => (
          <Row key={key.id} apiKey={key} isOwn={key.id === keyId} />
        ))}
      </QueryTable>
    </>
  );
}

function Row({ apiKey, isOwn }: { readonly apiKey: ApiKey; readonly isOwn: boolean }) {
  const { id, name, lastUsedAt } = apiKey;
  return (
    <Table.Tr data-row data-key={id}>
      <Table.Td maw={300} data-line>
        <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
          {keyNameOf(apiKey)}
          {isOwn && (
            <Text span size="xs" c="dimmed">
              {' '}
              · yours
            </Text>
          )}
        </Text>
        {name !== undefined && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {escapeInvisible(id)}
          </Text>
        )}
      </Table.Td>
      <Table.Td maw={280} data-line>
        <KeyRights apiKey={apiKey} />
      </Table.Td>
      <Table.Td>
        <KeyState apiKey={apiKey} />
      </Table.Td>
      <Table.Td maw={200} data-label="Made by">
        <KeyCreator apiKey={apiKey} />
      </Table.Td>
      <Table.Td data-label="Last used">{lastUsedAt === undefined ? 'never' : <Ago at={Date.parse(lastUsedAt)} />}</Table.Td>
      <Table.Td data-line>
        <KeyActions apiKey={apiKey} />
      </Table.Td>
    </Table.Tr>
  );
}
