import { Group, Paper, Text, Textarea, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { BATCH_LIMITS } from '#contracts';
import { ScopedButton } from '../components/scoped-button.js';
import { notifySuccess, notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

/** Sends a message to the agent, delivered with its next result. */
export function SteerCard({ sessionId }: { readonly sessionId: string }) {
  const { client } = useToolyard();
  const [message, setMessage] = useState('');
  const steer = useMutation({
    mutationFn: () => client.sessions.steer(sessionId, message),
    onSuccess: ({ waiting }) => {
      setMessage('');
      notifySuccess(waiting === 1 ? 'The agent gets it with its next result' : `${waiting} messages wait for the agent`);
    },
    onError: (error) => notifyError('The message was not queued', error),
  });
  return (
    <Paper withBorder p="sm" component="section" aria-label="Steer">
      <Title order={2}>Steer</Title>
      <Text size="xs" c="dimmed" mb="xs">
        The batch that runs skips what is left and hands your words to the model.
      </Text>
      <Textarea
        aria-label="Message to the agent"
        placeholder="Stop editing; look at the failing test first."
        autosize
        minRows={2}
        maxLength={BATCH_LIMITS.steeringMessageChars}
        value={message}
        onChange={({ currentTarget }) => setMessage(currentTarget.value)}
      />
      <Group justify="flex-end" mt="xs">
        <ScopedButton scope="submit" size="xs" disabled={message.trim() === ''} loading={steer.isPending} onClick={() => steer.mutate()}>
          Send
        </ScopedButton>
      </Group>
    </Paper>
  );
}
