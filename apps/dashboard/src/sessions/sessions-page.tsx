import { Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconMessages } from '@tabler/icons-react';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { escapeInvisible, subjectText } from '#subject';
import { LinkAnchor } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import stacked from '../components/stacked.module.css';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { Ago } from '../components/time.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import type { SessionSummary } from '#contracts';
import { useSubjects } from '../components/use-subjects.js';
import { STATES } from '../components/theme.js';
import { shownState } from '../calls/call-row.js';
import classes from './state-strip.module.css';

const ASK_MS = 1500;
const TYPING_MS = 300;
const route = getRouteApi('/sessions');

/** Sessions with calls, the latest active first. */
export function SessionsPage() {
  const { client, feed } = useToolyard();
  const queries = useQueryClient();
  const search = route.useSearch();
  const list = useRowKeys<HTMLDivElement>();
  const pages = useInfiniteQuery({
    queryKey: ['sessions', search],
    queryFn: ({ pageParam, signal }) =>
      client.sessions.list({ ...search, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal }),
    placeholderData: (before) => before,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor,
    staleTime: 0,
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = feed.listen((events) => {
      if (!events.some(({ sessionid }) => sessionid !== undefined)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ['sessions'] });
      }, ASK_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [feed, queries]);
  const sessions = pages.data?.pages.flatMap((page) => page.sessions) ?? [];
  return (
    <>
      <PageHead title="Sessions" about="All the calls of one conversation; the latest active first." />
      <SessionFilters />
      {pages.isPending && <LoadingRows />}
      {pages.isError && <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && sessions.length === 0 && (
        <EmptyState icon={IconMessages} title={(search.q ?? search.agentId) ? 'No session fits' : 'No sessions yet'}>
          A call that names a <code>sessionId</code> makes one; it appears here by itself.
        </EmptyState>
      )}
      {sessions.length > 0 && (
        <Table.ScrollContainer minWidth={560} className={stacked['stacked']} ref={list}>
          <Table verticalSpacing="xs" highlightOnHover aria-label="Sessions">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Session</Table.Th>
                <Table.Th>Last call</Table.Th>
                <Table.Th>Agent</Table.Th>
                <Table.Th>States</Table.Th>
                <Table.Th ta="right">Calls</Table.Th>
                <Table.Th ta="right">Open</Table.Th>
                <Table.Th ta="right">Failed</Table.Th>
                <Table.Th>Active</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sessions.map((session) => (
                <Table.Tr key={session.sessionId} data-row>
                  <Table.Td data-line miw={190}>
                    <LinkAnchor
                      fw={550}
                      size="sm"
                      lineClamp={2}
                      title={session.sessionId}
                      style={{ overflowWrap: 'anywhere' }}
                      to="/sessions/$sessionId"
                      params={{ sessionId: session.sessionId }}
                    >
                      {session.sessionId}
                    </LinkAnchor>
                    {session.goal !== undefined && (
                      <Text size="xs" c="dimmed" lineClamp={2}>
                        {escapeInvisible(session.goal)}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td data-line maw={260}>
                    {session.lastCall && <LastCall call={session.lastCall} />}
                  </Table.Td>
                  <Table.Td data-label="Agent" maw={110}>
                    <Text
                      span
                      inherit
                      display="inline-block"
                      maw="100%"
                      truncate="end"
                      title={session.agentId ?? ''}
                      style={{ verticalAlign: 'bottom' }}
                    >
                      {session.agentId ?? '–'}
                    </Text>
                  </Table.Td>
                  <Table.Td data-line>
                    <StateStrip recent={session.recent} />
                  </Table.Td>
                  <Table.Td ta="right" data-label="Calls">
                    {session.calls.toLocaleString()}
                  </Table.Td>
                  <Table.Td ta="right" data-label="Open">
                    {session.running.toLocaleString()}
                  </Table.Td>
                  <Table.Td ta="right" data-label="Failed">
                    {session.failed.toLocaleString()}
                  </Table.Td>
                  <Table.Td data-label="Active" style={{ whiteSpace: 'nowrap' }}>
                    <Ago at={Date.parse(session.lastAt)} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {pages.hasNextPage && (
        <Button mt="sm" variant="default" size="xs" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Older sessions
        </Button>
      )}
    </>
  );
}

/** The filters are in the address. */
function SessionFilters() {
  const { q, agentId } = route.useSearch();
  const navigate = route.useNavigate();
  const [name, setName] = useState(q ?? '');
  const [agent, setAgent] = useState(agentId ?? '');
  const [typed] = useDebouncedValue({ name: name.trim(), agent: agent.trim() }, TYPING_MS);
  useEffect(() => {
    const search = { ...(typed.name === '' ? {} : { q: typed.name }), ...(typed.agent === '' ? {} : { agentId: typed.agent }) };
    void navigate({ search, replace: true });
  }, [typed.name, typed.agent, navigate]);
  return (
    <Group gap="xs" mb="sm">
      <TextInput
        size="xs"
        aria-label="Session"
        placeholder="Part of a name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput size="xs" aria-label="Agent" placeholder="Agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)} />
    </Group>
  );
}

/** Newest call of a session, in one line. */
function LastCall({ call }: { readonly call: NonNullable<SessionSummary['lastCall']> }) {
  const subject = escapeInvisible(subjectText(call.preview, useSubjects(call.tool)));
  return (
    <Text size="xs" ff="monospace" truncate title={`${call.tool}: ${subject}`}>
      {!subject.startsWith('$ ') && (
        <Text span inherit c="dimmed">
          {escapeInvisible(call.tool)}{' '}
        </Text>
      )}
      {subject}
    </Text>
  );
}

/** The states of the newest calls, the oldest of them first. */
function StateStrip({ recent }: Pick<SessionSummary, 'recent'>) {
  const states = recent.map((call) => shownState({ ...call, retrying: false, suspended: false, cancelling: false })).toReversed();
  const label = [...new Set(states)]
    .map((name) => `${states.filter((state) => state === name).length} ${STATES[name].label.toLowerCase()}`)
    .join(', ');
  return (
    <span className={classes['strip']} role="img" aria-label={`Newest calls: ${label || 'none'}`} title={label}>
      {states.map((state, index) => (
        <span key={index} style={{ background: `var(--mantine-color-${STATES[state].color}-6)` }} />
      ))}
    </span>
  );
}
