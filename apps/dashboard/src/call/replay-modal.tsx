import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { z } from 'zod';
import { Json, parseExactJson, type Call, type Violation } from '#contracts';
import { ToolyardError } from '#client';
import { ErrorState } from '../components/states.js';
import { ArgumentsInput } from '../components/arguments-input.js';
import { notifySuccess } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

const Arguments = z.record(z.string(), Json);

/** Replay with other arguments. They are validated before the submission. */
export function ReplayModal({ call, onClose }: { readonly call: Call; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const navigate = useNavigate();
  const [text, setText] = useState(() => JSON.stringify(call.arguments, null, 2));
  const [violations, setViolations] = useState<readonly Violation[]>([]);

  const replay = useMutation({
    mutationFn: async () => {
      const args = Arguments.parse(parseExactJson(text));
      const quote = await client.calls.quote({ tool: call.tool, arguments: args, sessionId: call.sessionId });
      setViolations(quote.errors);
      if (!quote.valid) return undefined;
      return client.calls.replay(call.id, { arguments: args });
    },
    onSuccess: (made) => {
      if (made === undefined) return;
      notifySuccess('Runs again with these arguments');
      onClose();
      void navigate({ to: '/calls/$callId', params: { callId: made.id } });
    },
  });
  const readable = Arguments.safeParse(parsed(text)).success;

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Replay ${call.tool} with other arguments`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        <ArgumentsInput
          description="The original call stays as it is; this becomes a new one that remembers where it came from."
          value={text}
          onChange={setText}
        />
        {violations.length > 0 && (
          <Alert color="red" title="These arguments do not fit the tool" role="alert">
            <List size="sm">
              {violations.map(({ pointer, message }) => (
                <List.Item key={`${pointer} ${message}`}>
                  <strong>{pointer === '' ? 'arguments' : pointer}</strong> {message}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        {replay.isError &&
          (replay.error instanceof ToolyardError ? (
            <ErrorState error={replay.error} />
          ) : (
            <Text c="var(--mantine-color-error)">Expected a JSON object.</Text>
          ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button disabled={!readable} loading={replay.isPending} onClick={() => replay.mutate()}>
            Replay
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
