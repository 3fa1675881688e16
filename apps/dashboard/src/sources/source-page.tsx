import { Alert, Code, Grid, Group, List, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ToolyardError } from '#client';
import type { Source } from '#contracts';
import { escapeInvisible } from '#subject';
import { ConfirmModal } from '../components/confirm-modal.js';
import { Fact, Facts } from '../components/facts.js';
import { Json } from '../components/json.js';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { ScopedButton } from '../components/scoped-button.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { Ago } from '../components/time.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { ScopeOnly } from '../components/scope-only.js';
import { ChangedTools } from './changed-tools.js';
import { SourceAuthorization } from './source-authorization.js';
import { aboutState, KIND_NAMES, ORIGINS, placeOf, SourceState } from './source-parts.js';

const route = getRouteApi('/sources/$source');
const ASK_MS = 3000;

/** Page of a source: its health, the changes of its tools, and the tools. */
export function SourcePage() {
  const { source: name } = route.useParams();
  return (
    <ScopeOnly scope="admin" title={name}>
      <OneSource key={name} name={name} />
    </ScopeOnly>
  );
}

function OneSource({ name }: { readonly name: string }) {
  const { client } = useToolyard();
  const [removing, setRemoving] = useState(false);
  const source = useQuery({
    queryKey: ['source', name],
    queryFn: ({ signal }) => client.sources.get(name, { signal }),
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
  if (source.isPending) return <LoadingRows />;
  if (source.isError && source.data === undefined)
    return source.error instanceof ToolyardError && source.error.status === 404 ? (
      <NoSource name={name} />
    ) : (
      <ErrorState error={source.error} onRetry={() => void source.refetch()} />
    );
  const { data } = source;
  const about = aboutState(data);
  const whyNot = data.origin === 'api' ? undefined : 'It was not added over HTTP: remove it where it was defined.';
  return (
    <>
      <PageHead
        tab={`Source ${name}`}
        title={
          <Group gap="sm">
            <span>{name}</span>
            <SourceState status={data.status} authorization={data.authorization} />
          </Group>
        }
        about={`${KIND_NAMES[data.kind]}, ${ORIGINS[data.origin]}`}
      >
        <ScopedButton scope="admin" whyNot={whyNot} size="xs" color="red" variant="light" onClick={() => setRemoving(true)}>
          Remove
        </ScopedButton>
      </PageHead>
      <Stack gap="md">
        {about !== undefined && (
          <Alert
            color={data.status === 'failed' ? 'red' : data.status === 'connecting' ? 'gray' : 'orange'}
            title={data.error && 'Last error'}
          >
            {data.error !== undefined && (
              <Text size="sm" mb={4} style={{ overflowWrap: 'anywhere' }}>
                {escapeInvisible(data.error)}
              </Text>
            )}
            {about}
          </Alert>
        )}
        <SourceAuthorization source={data} />
        <ChangedTools source={data} />
        <Grid gap="md">
          <Grid.Col span={{ base: 12, md: 7 }}>
            <ToolList source={data} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <SourceFacts source={data} />
          </Grid.Col>
        </Grid>
      </Stack>
      {removing && <RemoveModal name={name} onClose={() => setRemoving(false)} />}
    </>
  );
}

function NoSource({ name }: { readonly name: string }) {
  return (
    <EmptyState
      whole
      title={`There is no source ${escapeInvisible(name)}`}
      action={
        <LinkButton to="/sources" variant="default" size="xs" mt="xs">
          All sources
        </LinkButton>
      }
    >
      It may have been removed, or its worker is gone.
    </EmptyState>
  );
}

function ToolList({ source: { list, problems, name } }: { readonly source: Source }) {
  const [text, setText] = useState('');
  const rows = useRowKeys<HTMLDivElement>();
  const words = text.trim().toLowerCase();
  const shown = list.filter((tool) => `${tool.name} ${tool.rawName}`.toLowerCase().includes(words));
  return (
    <section aria-label="Tools of the source">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Tools</Title>
        {list.length > 10 && (
          <TextInput
            size="xs"
            aria-label="Search tools"
            placeholder="Search"
            leftSection={<IconSearch size={14} aria-hidden />}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Group>
      {shown.length === 0 && (
        <Text size="sm" c="dimmed">
          {words === '' ? `${name} offers no tools.` : 'No tool fits.'}
        </Text>
      )}
      <Stack gap={4} ref={rows}>
        {shown.map((tool) => (
          <Group key={tool.rawName} gap="xs" data-row data-source-tool={tool.rawName}>
            <LinkAnchor size="sm" fw={550} to="/tools/$tool" params={{ tool: tool.name }}>
              {tool.name}
            </LinkAnchor>
            {tool.rawName !== tool.name && (
              <Text size="xs" c="dimmed">
                there <Code>{escapeInvisible(tool.rawName)}</Code>
              </Text>
            )}
            {tool.pending && (
              <Text size="xs" fw={600}>
                changed, not available
              </Text>
            )}
          </Group>
        ))}
      </Stack>
      {problems.length > 0 && (
        <>
          <Title order={3} mt="md" mb={4}>
            Left out
          </Title>
          <List size="sm" aria-label="Tools that were left out">
            {problems.map((problem) => (
              <List.Item key={problem} style={{ overflowWrap: 'anywhere' }}>
                {escapeInvisible(problem)}
              </List.Item>
            ))}
          </List>
        </>
      )}
    </section>
  );
}

function SourceFacts({ source }: { readonly source: Source }) {
  const { definition, updatedAt, tenantId } = source;
  const place = definition && placeOf(definition);
  return (
    <Stack gap="md">
      <Paper withBorder p="sm" component="section" aria-label="Facts">
        <Facts>
          <Fact name="Where">{place !== undefined && <Code>{escapeInvisible(place)}</Code>}</Fact>
          <Fact name="Reported">{updatedAt !== undefined && <Ago at={Date.parse(updatedAt)} />}</Fact>
          <Fact name="Tenant">{tenantId === '*' ? 'all' : tenantId}</Fact>
          <Fact name="Trusted">
            {definition !== undefined && (definition.trust ? 'yes: its facts count' : 'no: every tool is privileged')}
          </Fact>
          <Fact name="Changes">{definition !== undefined && (definition.pin ? 'wait for a person' : 'count at once')}</Fact>
        </Facts>
      </Paper>
      {definition !== undefined && (
        <div>
          <Title order={2} mb="xs">
            Definition
          </Title>
          <Json value={definition} label="Definition" />
        </div>
      )}
    </Stack>
  );
}

function RemoveModal({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmModal
      title={`Remove ${name}?`}
      confirm="Remove it"
      scope="admin"
      action={() => client.sources.remove(name)}
      done={() => `${name} is removed`}
      failed="The source was not removed"
      onDone={async () => {
        await navigate({ to: '/sources' });
        void queries.invalidateQueries({ queryKey: ['sources'] });
      }}
      onClose={onClose}
    >
      Its tools are gone for all agents, and so is what was accepted of them: added again, they are taken as they are then.
    </ConfirmModal>
  );
}
