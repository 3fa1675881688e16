import { Anchor, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { LinkAnchor } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { foundIn, groupsOf, type ApiDocument, type Group as OperationGroup } from './api-document.js';
import classes from './api-reference.module.css';
import { InlineText } from './inline-text.js';
import { OperationView } from './operation-view.js';

/** The API reference: all operations, and the one that the address names. Made from the document that the gateway serves. */
export function ReferencePage() {
  const { operationId } = useParams({ strict: false });
  const document = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => loadDocument(signal),
    staleTime: Infinity,
    gcTime: Infinity,
  });
  if (document.isPending) return <LoadingRows />;
  if (document.isError) return <ErrorState error={document.error} onRetry={() => void document.refetch()} />;
  return <Reference document={document.data} operationId={operationId} />;
}

async function loadDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await fetch('/openapi.json', { signal });
  if (!response.ok) throw new Error(`The gateway answered ${response.status}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by the gateway of this page, of its own release
  return (await response.json()) as ApiDocument;
}

interface ReferenceProps {
  readonly document: ApiDocument;
  readonly operationId: string | undefined;
}

function Reference({ document, operationId }: ReferenceProps) {
  const groups = useMemo(() => groupsOf(document), [document]);
  const operation = groups.flatMap(({ operations }) => operations).find((one) => one.operationId === operationId);
  const title = operationId === undefined ? 'API reference' : withoutMarks(operation?.summary ?? 'No such operation');
  return (
    <>
      <PageHead
        title={title}
        about={
          <Group gap="4px 16px">
            {operationId !== undefined && <LinkAnchor to="/docs">API reference</LinkAnchor>}
            <Anchor href="/docs/stream">Frames of the WebSockets</Anchor>
            <Anchor href="/openapi.json">OpenAPI</Anchor>
            <Anchor href="/asyncapi.json">AsyncAPI</Anchor>
          </Group>
        }
      />
      <div className={classes.columns}>
        <OperationList groups={groups} operationId={operationId} />
        {operation !== undefined && <OperationView key={operation.operationId} operation={operation} document={document} />}
        {operationId === undefined && <Start document={document} groups={groups} />}
        {operationId !== undefined && operation === undefined && (
          <EmptyState title="No such operation">This gateway has no operation {operationId}.</EmptyState>
        )}
      </div>
    </>
  );
}

function OperationList({ groups, operationId }: { readonly groups: readonly OperationGroup[]; readonly operationId: string | undefined }) {
  const [query, setQuery] = useState('');
  const found = useMemo(() => foundIn(groups, query), [groups, query]);
  return (
    <nav className={classes.list} aria-label="Operations" data-beside={operationId !== undefined || undefined}>
      <TextInput
        size="xs"
        mb="xs"
        aria-label="Find an operation"
        placeholder="Find an operation"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      <div className={classes.scroll}>
        {found.map(({ name, operations }) => (
          <div key={name}>
            <Text size="xs" fw={700} tt="capitalize" mt="xs" mb={2}>
              {name}
            </Text>
            {operations.map(({ operationId: id, method, summary }) => (
              <Link
                key={id}
                to="/docs/$operationId"
                params={{ operationId: id }}
                className={classes.entry}
                data-operation={id}
                {...(id === operationId ? { 'data-active': true, 'aria-current': 'page' as const } : {})}
              >
                <span className={classes.method} data-method={method}>
                  {method}
                </span>
                <span>{withoutMarks(summary)}</span>
              </Link>
            ))}
          </div>
        ))}
        {found.length === 0 && (
          <Text size="sm" c="dimmed">
            No operation has these words.
          </Text>
        )}
      </div>
    </nav>
  );
}

/** A summary without its marks of code, for titles and links. */
function withoutMarks(summary: string): string {
  return summary.replaceAll('`', '');
}

function Start({ document, groups }: { readonly document: ApiDocument; readonly groups: readonly OperationGroup[] }) {
  return (
    <Stack gap="md">
      <Paper withBorder p="md">
        <InlineText text={document.info.description} c="inherit" />
        <Text size="xs" c="dimmed">
          Version {document.info.version}
        </Text>
      </Paper>
      {groups.map(({ name, description, operations }) => (
        <section key={name}>
          <Title order={2} size="h4" tt="capitalize">
            {name}
          </Title>
          <Text size="sm" c="dimmed">
            {description} {operations.length === 1 ? 'One operation.' : `${operations.length} operations.`}
          </Text>
        </section>
      ))}
    </Stack>
  );
}
