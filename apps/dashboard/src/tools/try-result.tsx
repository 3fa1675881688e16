import { Group, Paper, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { errorText, escapeInvisible } from '#subject';
import { ContentView } from '../call/content.js';
import { stateOfCall } from '../calls/call-row.js';
import { LinkButton } from '../components/links.js';
import { LoadingRows } from '../components/states.js';
import { StateBadge } from '../components/state-badge.js';
import { LastLine } from '../live/last-line.js';
import { useToolyard } from '../stream/toolyard.js';

/** The call that was made here: its state, and its result as soon as it has one. */
export function TryResult({ callId }: { readonly callId: string }) {
  const { client, feed } = useToolyard();
  const { data: call, refetch } = useQuery({
    queryKey: ['tried-call', callId],
    queryFn: ({ signal }) => client.calls.get(callId, { signal }),
    // An event may come while the first answer is on its way, which is then not asked for again.
    refetchInterval: ({ state }) => (state.data?.status === 'ended' ? false : 1000),
  });
  useEffect(() => feed.listen((events) => void (events.some(({ subject }) => subject === callId) && refetch())), [feed, callId, refetch]);
  const section = useRef<HTMLElement>(null);
  const status = call?.status;
  // Scrolls to the result, since it is below the form, often outside the window.
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' });
  }, [status]);
  return (
    <Paper
      ref={section}
      withBorder
      p="md"
      mt="md"
      component="section"
      aria-label="Result"
      data-try-result={callId}
      data-status={call?.status}
    >
      <Group justify="space-between" mb="xs">
        <Group gap="sm">
          <Title order={2}>Result</Title>
          <span role="status">{call && <StateBadge state={stateOfCall(call, false)} note={call.note} />}</span>
        </Group>
        <LinkButton to="/calls/$callId" params={{ callId }} size="xs" variant="default">
          Open the call
        </LinkButton>
      </Group>
      {call === undefined && <LoadingRows rows={2} />}
      {call?.waiting !== undefined && <Text size="sm">{escapeInvisible(call.waiting.detail)}</Text>}
      {call?.status === 'running' && <LastLine callId={callId} />}
      {call?.error && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {escapeInvisible(errorText(call.error))}
        </Text>
      )}
      {call?.result && <ContentView content={call.result.content} />}
    </Paper>
  );
}
