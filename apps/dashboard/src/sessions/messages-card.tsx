import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { actorText, escapeInvisible } from '#subject';
import { Ago } from '../components/time.js';
import { useSteering } from './use-steering.js';

/** Messages of people to the session, newest first, with their delivery to the agent. Nothing without messages. */
export function MessagesCard({ sessionId }: { readonly sessionId: string }) {
  const messages = useSteering(sessionId).toReversed();
  if (messages.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Messages">
      <Title order={2} mb="xs">
        Messages
      </Title>
      <Stack gap="xs">
        {messages.map(({ id, message, from, fromName, at, taken }) => (
          <div key={id} data-message={id}>
            <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
              {escapeInvisible(message)}
            </Text>
            <Group gap={6}>
              <Text size="xs" c="dimmed">
                {actorText(from, fromName)} · <Ago at={Date.parse(at)} />
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
