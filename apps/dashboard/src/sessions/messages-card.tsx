import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { escapeInvisible } from '#subject';
import { Ago } from '../components/time.js';
import { useToolyard } from '../stream/toolyard.js';

/** What people said to the session, newest first, and whether its agent has it. Nothing without messages. */
export function MessagesCard({ sessionId }: { readonly sessionId: string }) {
  const { client, feed } = useToolyard();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['steering', sessionId],
    queryFn: ({ signal }) => client.sessions.steering(sessionId, { signal }),
    staleTime: 0,
  });
  useEffect(() => {
    const ask = () => void queries.invalidateQueries({ queryKey: ['steering', sessionId] });
    const stopNotices = feed.onNotice((notice) => notice.type === 'session.steered' && notice.sessionid === sessionId && ask());
    // An agent takes messages when its calls end.
    const stopEvents = feed.listen((events) => {
      if (events.some((event) => event.sessionid === sessionId && event.type === 'call.end')) ask();
    });
    return () => {
      stopNotices();
      stopEvents();
    };
  }, [feed, queries, sessionId]);
  const messages = data?.messages.toReversed() ?? [];
  if (messages.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Messages">
      <Title order={2} mb="xs">
        Messages
      </Title>
      <Stack gap="xs">
        {messages.map(({ id, message, from, at, taken }) => (
          <div key={id} data-message={id}>
            <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
              {escapeInvisible(message)}
            </Text>
            <Group gap={6}>
              <Text size="xs" c="dimmed">
                {from} · <Ago at={Date.parse(at)} />
              </Text>
              <Badge size="xs" variant="default" tt="none">
                {taken ? 'taken' : 'waits'}
              </Badge>
            </Group>
          </div>
        ))}
      </Stack>
    </Paper>
  );
}
