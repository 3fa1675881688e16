import { ActionIcon, Alert, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { escapeInvisible } from '#subject';
import { DecisionCard } from '../approvals/decision-card.js';
import { ContentView } from '../call/content.js';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { ErrorState, LoadingRows } from '../components/states.js';
import { StateBadge } from '../components/state-badge.js';
import { Ago, Duration, Since } from '../components/time.js';
import { useKeys } from '../components/use-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { SubjectView } from '../subject/subject-view.js';
import classes from './calls-page.module.css';
import { stateOfCall } from '../calls/call-row.js';

interface CallPreviewProps {
  readonly callId: string;
  readonly onClose: () => void;
}

/** Call beside the list: its subject, its result, and the decision on a waiting one. */
export function CallPreview({ callId, onClose }: CallPreviewProps) {
  const { client, feed } = useToolyard();
  const { data: call, ...answer } = useQuery({
    queryKey: ['call-preview', callId],
    queryFn: ({ signal }) => client.calls.get(callId, { signal }),
    // An event during the first request does not start another one.
    refetchInterval: ({ state }) => (state.data?.status === 'ended' ? false : 1000),
  });
  const { refetch } = answer;
  useEffect(() => feed.listen((events) => void (events.some(({ subject }) => subject === callId) && refetch())), [feed, callId, refetch]);
  useKeys([['Escape', onClose]]);
  const text = call?.error?.message;
  return (
    <Paper
      withBorder
      p="sm"
      component="aside"
      aria-label="Call beside the list"
      className={classes['pane'] ?? ''}
      tabIndex={0}
      data-preview={callId}
    >
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Title order={2} size="h3" lineClamp={1}>
          {call?.tool ?? 'Call'}
        </Title>
        <Group gap={6} wrap="nowrap">
          <LinkButton to="/calls/$callId" params={{ callId }} size="compact-xs" variant="default">
            Open
          </LinkButton>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Close the call beside the list" onClick={onClose}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      {answer.isPending && <LoadingRows rows={4} />}
      {answer.isError && <ErrorState error={answer.error} onRetry={() => void refetch()} />}
      {call && (
        <Stack gap="sm">
          <Group gap="sm">
            <StateBadge state={stateOfCall(call, false)} note={call.note} />
            <Text size="xs" c="dimmed" component="div">
              {call.agentId !== undefined && `${call.agentId} · `}
              {call.sessionId !== undefined && (
                <>
                  <LinkAnchor size="xs" underline="always" to="/sessions/$sessionId" params={{ sessionId: call.sessionId }}>
                    {call.sessionId}
                  </LinkAnchor>
                  {' · '}
                </>
              )}
              <Ago at={Date.parse(call.submittedAt)} /> · <RunTime startedAt={call.startedAt} endedAt={call.endedAt} />
            </Text>
          </Group>
          {call.status === 'waiting_approval' ? <DecisionCard key={call.id} call={call} about={null} /> : <SubjectView call={call} />}
          {text !== undefined && (
            <Alert color="red" title={call.error?.code} styles={{ message: { overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' } }}>
              {escapeInvisible(text)}
            </Alert>
          )}
          {call.result && <ContentView content={call.result.content} atEnd={call.result.isError} />}
        </Stack>
      )}
    </Paper>
  );
}

function RunTime({ startedAt, endedAt }: { readonly startedAt?: string | undefined; readonly endedAt?: string | undefined }) {
  if (startedAt === undefined) return <>not started</>;
  if (endedAt === undefined)
    return (
      <>
        running <Since at={Date.parse(startedAt)} />
      </>
    );
  return (
    <>
      took <Duration ms={Date.parse(endedAt) - Date.parse(startedAt)} />
    </>
  );
}
