import { Badge, Box, Grid, Group, Kbd, Paper, Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core';
import { useKeys } from '../components/use-keys.js';
import { IconChecklist } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApprovalOption, Call, TrustOption } from '#contracts';
import { DecisionView } from '../call/decision-view.js';
import { useSubjectLine } from '../subject/use-subject-line.js';
import { SubjectView } from '../subject/subject-view.js';
import { LinkAnchor } from '../components/links.js';
import { ScopedButton } from '../components/scoped-button.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { notifySuccess, notifyError } from '../components/notify.js';
import { Ago, useNow } from '../components/time.js';
import { durationText } from '../components/duration.js';
import { escapeInvisible } from '../components/escape-invisible.js';
import { useScopes } from '../session/use-scopes.js';
import { useToolyard } from '../stream/toolyard.js';
import classes from './approvals-page.module.css';
import { EditModal } from './edit-modal.js';

const PAGE = 100;

interface Answer {
  readonly call: Call;
  readonly option: Pick<ApprovalOption, 'decision' | 'scope' | 'label'>;
  readonly trust?: TrustOption | undefined;
  readonly reason: string;
}

/** The approvals inbox, operable by keyboard. */
export function ApprovalsPage() {
  const inbox = useInbox();
  const { calls } = inbox;
  const [chosen, setChosen] = useState<string>();
  const [reason, setReason] = useState('');
  const index = Math.max(
    0,
    calls.findIndex(({ id }) => id === chosen),
  );
  const call = calls[index];
  const [editing, setEditing] = useState(false);
  const next = () => {
    setChosen(calls[index + 1]?.id ?? calls[index - 1]?.id);
    setReason('');
    setEditing(false);
  };
  const answer = useAnswer(next);
  const lacking = useScopes().lacks('approve');
  const say = (option: Answer['option'], trust?: TrustOption) => {
    if (call && !editing && !answer.isPending && lacking === undefined) answer.mutate({ call, option, trust, reason });
  };
  const step = (by: number) => !editing && setChosen(calls[Math.min(calls.length - 1, Math.max(0, index + by))]?.id);
  useKeys([
    ['j', () => step(1)],
    ['ArrowDown', () => step(1)],
    ['k', () => step(-1)],
    ['ArrowUp', () => step(-1)],
    ['a', () => say({ decision: 'allow', scope: 'once', label: 'Allowed' })],
    ['d', () => say({ decision: 'deny', scope: 'once', label: 'Denied' })],
    ...[1, 2, 3, 4, 5, 6].map((digit): [string, () => void] => [
      String(digit),
      () => {
        const trust = call?.approval?.trustOptions[digit - 1];
        if (trust) say({ decision: 'allow', scope: 'session-args', label: 'Allowed' }, trust);
      },
    ]),
  ]);

  return (
    <>
      <PageHead
        title="Approvals"
        about={
          <span>
            <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> next and previous · <Kbd size="xs">a</Kbd> allow once · <Kbd size="xs">d</Kbd>{' '}
            deny · <Kbd size="xs">1</Kbd>–<Kbd size="xs">6</Kbd> trust for the session
          </span>
        }
      />
      {inbox.query.isPending && <LoadingRows />}
      {inbox.query.isError && <ErrorState error={inbox.query.error} onRetry={() => void inbox.query.refetch()} />}
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
            <Question
              key={call.id}
              call={call}
              pending={answer.isPending}
              reason={reason}
              onReason={setReason}
              onSay={say}
              onEdit={() => setEditing(true)}
            />
            {editing && (
              <EditModal key={`edit ${call.id}`} call={call} reason={reason} onClose={() => setEditing(false)} onAllowed={next} />
            )}
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

function useAnswer(onAnswered: () => void) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ call, option: { decision, scope }, trust, reason }: Answer) =>
      client.calls.decide(call.id, {
        decision,
        scope,
        ...(trust === undefined ? {} : { trustOption: trust.id }),
        ...(reason === '' ? {} : { reason }),
      }),
    onSuccess: (_call, { call, option, trust }) => {
      notifySuccess(
        `${option.decision === 'allow' ? 'Allowed' : 'Denied'}: ${call.tool}${trust === undefined ? '' : `, and ${trust.display} from now on`}`,
      );
      onAnswered();
    },
    onError: (error) => notifyError('The answer was not taken', error),
    // Not awaited: the next decision may follow at once.
    onSettled: () => void queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
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
            {call.approval && <Expires at={Date.parse(call.approval.expiresAt)} />}
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

function SubjectLine({ call }: { readonly call: Call }) {
  return (
    <Text size="xs" ff="monospace" truncate>
      {useSubjectLine(call)}
    </Text>
  );
}

const SOON_MS = 60_000;

function Expires({ at }: { readonly at: number }) {
  const left = at - useNow();
  return (
    <Badge size="xs" variant="dot" color={left < SOON_MS ? 'red' : 'gray'} tt="none">
      {left <= 0 ? 'expired' : `${durationText(left)} left`}
    </Badge>
  );
}

interface QuestionProps {
  readonly call: Call;
  readonly pending: boolean;
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onSay: (option: Answer['option'], trust?: TrustOption) => void;
  readonly onEdit: () => void;
}

function Question({ call, pending, reason, onReason, onSay, onEdit }: QuestionProps) {
  const { approval } = call;
  const always = approval?.options.filter(({ scope }) => scope === 'session-tool') ?? [];
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={2}>May this run?</Title>
          <Text size="sm" c="dimmed">
            <LinkAnchor size="sm" underline="always" to="/calls/$callId" params={{ callId: call.id }}>
              {call.tool}
            </LinkAnchor>{' '}
            asked <Ago at={Date.parse(approval?.requestedAt ?? call.submittedAt)} />
            {call.agentId === undefined ? '' : ` by ${call.agentId}`}
          </Text>
        </div>
      </Group>
      {call.purpose !== undefined && <Text size="sm">The agent says: “{escapeInvisible(call.purpose)}”</Text>}
      <SubjectView call={call} />
      <Paper withBorder p="sm">
        <Text size="sm" fw={600}>
          Why a person is asked
        </Text>
        {approval?.reasons.map((each) => (
          <Text key={each} size="sm">
            {escapeInvisible(each)}
          </Text>
        ))}
      </Paper>
      <TextInput
        label="Reason"
        description="Kept with the call, and sent to the agent when denied."
        placeholder="Optional"
        value={reason}
        onChange={({ currentTarget }) => onReason(currentTarget.value)}
      />
      <Group gap="xs">
        <ScopedButton
          scope="approve"
          color="teal.9"
          loading={pending}
          onClick={() => onSay({ decision: 'allow', scope: 'once', label: 'Allowed' })}
          rightSection={<Kbd size="xs">a</Kbd>}
        >
          Allow once
        </ScopedButton>
        <ScopedButton
          scope="approve"
          color="red.8"
          loading={pending}
          onClick={() => onSay({ decision: 'deny', scope: 'once', label: 'Denied' })}
          rightSection={<Kbd size="xs">d</Kbd>}
        >
          Deny
        </ScopedButton>
        <ScopedButton scope="approve" variant="default" disabled={pending} onClick={onEdit}>
          Edit and allow
        </ScopedButton>
        {always.map((option) => (
          <ScopedButton scope="approve" key={option.id} variant="default" disabled={pending} onClick={() => onSay(option)}>
            {option.decision === 'allow' ? 'Always allow' : 'Never allow'} {call.tool} in this session
          </ScopedButton>
        ))}
      </Group>
      {approval !== undefined && approval.trustOptions.length > 0 && (
        <Box>
          <Text size="sm" fw={600} mb={6}>
            Allow, and trust for the rest of the session
          </Text>
          <Group gap="xs">
            {approval.trustOptions.map((trust, index) => (
              <ScopedButton
                scope="approve"
                key={trust.id}
                variant="default"
                size="xs"
                disabled={pending}
                onClick={() => onSay({ decision: 'allow', scope: 'session-args', label: 'Allowed' }, trust)}
                leftSection={index < 6 ? <Kbd size="xs">{index + 1}</Kbd> : undefined}
              >
                {trust.label}: {escapeInvisible(trust.display)}
              </ScopedButton>
            ))}
          </Group>
        </Box>
      )}
      <DecisionView decision={call.decision} />
    </Stack>
  );
}
