import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { z } from 'zod';
import type { Call, Violation } from '#contracts';
import { ArgumentChanges } from '../approvals/argument-changes.js';
import { ArgumentViolations } from '../components/argument-violations.js';
import { Arguments, ArgumentsEditor } from '../components/arguments-editor.js';
import { ErrorState } from '../components/states.js';
import { notifySuccess } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

/** Replay with other arguments, in the form of the tool or as JSON. They are validated before the submission. */
export function ReplayModal({ call, onClose }: { readonly call: Call; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const navigate = useNavigate();
  const [value, setValue] = useState<unknown>(call.arguments);
  const [violations, setViolations] = useState<readonly Violation[]>([]);
  const args = Arguments.safeParse(value);

  const replay = useMutation({
    mutationFn: async (edited: z.output<typeof Arguments>) => {
      const quote = await client.calls.quote({ tool: call.tool, arguments: edited, sessionId: call.sessionId });
      setViolations(quote.errors);
      if (!quote.valid) return undefined;
      return client.calls.replay(call.id, { arguments: edited });
    },
    onSuccess: (made) => {
      if (made === undefined) return;
      notifySuccess('Runs again with these arguments');
      onClose();
      void navigate({ to: '/calls/$callId', params: { callId: made.id } });
    },
  });

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Replay ${call.tool} with other arguments`}
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        <Text size="sm">The original call stays as it is; this becomes a new one that remembers where it came from.</Text>
        <ArgumentsEditor tool={call.tool} value={value} onChange={setValue} violations={violations} />
        <ArgumentViolations violations={violations} />
        {args.success && <ArgumentChanges asked={Arguments.safeParse(call.arguments).data ?? {}} edited={args.data} />}
        {replay.isError && <ErrorState error={replay.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button disabled={!args.success} loading={replay.isPending} onClick={() => args.success && replay.mutate(args.data)}>
            Replay
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
