import { Alert, Grid, Group, Kbd, Paper, Text, UnstyledButton } from '@mantine/core';
import { useKeys } from '../components/use-keys.js';
import { IconChecklist } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Call } from '#contracts';
import { escapeInvisible } from '#subject';
import { useSubjectLine } from '../subject/use-subject-line.js';
import { LinkAnchor } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { useToolyard } from '../stream/toolyard.js';
import classes from './approvals-page.module.css';
import { DecisionCard } from './decision-card.js';
import { TimeLeft } from './time-left.js';

const PAGE = 100;

/** The approvals inbox, operable by keyboard. */
export function ApprovalsPage() {
  const inbox = useInbox();
  const { calls } = inbox;
  const { callId: chosen } = useParams({ strict: false });
  const navigate = useNavigate();
  const setChosen = (callId: string | undefined) =>
    void (callId === undefined
      ? navigate({ to: '/approvals', replace: true })
      : navigate({ to: '/approvals/$callId', params: { callId }, replace: true }));
  const isGone = chosen !== undefined && inbox.query.isSuccess && !inbox.query.isFetching && !calls.some(({ id }) => id === chosen);
  const index = Math.max(
    0,
    calls.findIndex(({ id }) => id === chosen),
  );
  const call = calls[index];
  const next = () => setChosen(calls[index + 1]?.id ?? calls[index - 1]?.id);
  const step = (by: number) => setChosen(calls[Math.min(calls.length - 1, Math.max(0, index + by))]?.id);
  useKeys([
    ['j', () => step(1)],
    ['ArrowDown', () => step(1)],
    ['k', () => step(-1)],
    ['ArrowUp', () => step(-1)],
  ]);

  return (
    <>
      <PageHead
        title="Approvals"
        about={
          <span>
            <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> next and previous · <Kbd size="xs">a</Kbd> allow once · <Kbd size="xs">d</Kbd>{' '}
            deny · <Kbd size="xs">e</Kbd> edit · <Kbd size="xs">1</Kbd>–<Kbd size="xs">6</Kbd> twice: trust for the session
          </span>
        }
      />
      {inbox.query.isPending && <LoadingRows />}
      {inbox.query.isError && <ErrorState error={inbox.query.error} onRetry={() => void inbox.query.refetch()} />}
      {isGone && <Answered callId={chosen} />}
      {inbox.query.isSuccess && call === undefined && (
        <EmptyState icon={IconChecklist} title="Nothing waits for you">
          A call that needs a person appears here by itself. Which calls do is set by the posture of their session.
        </EmptyState>
      )}
      {call && (
        <Grid gap="md">
          <Grid.Col span={{ base: 12, sm: 5, md: 4 }}>
            <Inbox calls={calls} current={call.id} onChoose={setChosen} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 7, md: 8 }}>
            <DecisionCard key={call.id} call={call} about={<CallLink call={call} />} onAnswered={next} />
          </Grid.Col>
        </Grid>
      )}
    </>
  );
}

/** Pending approvals, oldest first, so that none expires unseen; reloaded when an event changes them. */
function useInbox() {
  const { client, feed } = useToolyard();
  const queries = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: ['approvals'],
    queryFn: ({ pageParam, signal }) =>
      client.approvals.list({ limit: PAGE, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor,
    staleTime: 0,
  });
  useEffect(() => {
    const ask = () => void queries.invalidateQueries({ queryKey: ['approvals'] });
    const waiting = new Set(query.data?.pages.flatMap(({ calls }) => calls.map(({ id }) => id)));
    const stopEvents = feed.listen((events) => {
      if (events.some((event) => event.type.startsWith('call.approval') || (event.type === 'call.end' && waiting.has(event.subject))))
        ask();
    });
    const stopLive = feed.onLive(ask);
    return () => {
      stopEvents();
      stopLive();
    };
  }, [feed, queries, query.data]);
  const calls = (query.data?.pages.flatMap((page) => page.calls) ?? []).filter(({ status }) => status === 'waiting_approval').toReversed();
  return { query, calls };
}

function Inbox({
  calls,
  current,
  onChoose,
}: {
  readonly calls: readonly Call[];
  readonly current: string;
  readonly onChoose: (id: string) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <Paper withBorder className={classes.inbox} ref={list} component="nav" aria-label="Waiting calls" tabIndex={0}>
      {calls.map((call) => (
        <UnstyledButton
          key={call.id}
          className={classes.item}
          data-call={call.id}
          {...(call.id === current ? { 'aria-current': true } : {})}
          onClick={() => onChoose(call.id)}
        >
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Text fw={600} size="sm" truncate>
              {call.tool}
            </Text>
            {call.approval && <TimeLeft at={Date.parse(call.approval.expiresAt)} />}
          </Group>
          <SubjectLine call={call} />
          <Text size="xs" c="dimmed" truncate>
            {[call.agentId, call.sessionId].filter(Boolean).join(' · ') || 'no session'}
          </Text>
        </UnstyledButton>
      ))}
    </Paper>
  );
}

/** A call of the address that no longer waits: how it was answered, and by whom. */
function Answered({ callId }: { readonly callId: string }) {
  const { client } = useToolyard();
  const { data } = useQuery({ queryKey: ['answered', callId], queryFn: ({ signal }) => client.calls.get(callId, { signal }) });
  const decided = data?.approval?.decided;
  return (
    <Alert mb="md" color="gray" role="status" data-answered={callId}>
      {decided === undefined
        ? 'The call of this link does not wait for an answer.'
        : `${decided.decision === 'allow' ? 'Allowed' : 'Denied'} by ${escapeInvisible(decided.by)}.`}{' '}
      <LinkAnchor size="sm" underline="always" to="/calls/$callId" params={{ callId }}>
        Open the call
      </LinkAnchor>
    </Alert>
  );
}

/** The tool, as a link to the page of the call. */
function CallLink({ call }: { readonly call: Call }) {
  return (
    <LinkAnchor size="sm" underline="always" to="/calls/$callId" params={{ callId: call.id }}>
      {call.tool}
    </LinkAnchor>
  );
}

function SubjectLine({ call }: { readonly call: Call }) {
  return (
    <Text size="xs" ff="monospace" truncate>
      {useSubjectLine(call)}
    </Text>
  );
}
