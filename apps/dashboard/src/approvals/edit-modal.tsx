import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { Json, parseExactJson, type Call } from '#contracts';
import { ArgumentsInput } from '../components/arguments-input.js';
import { Refusal } from '../components/refusal.js';
import { notifySuccess } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';
import { DecisionArea, DecisionButton } from './decision-area.js';

const Arguments = z.record(z.string(), Json);

export interface EditModalProps {
  readonly call: Call;
  readonly reason: string;
  readonly onClose: () => void;
  readonly onAllowed: () => void;
}

/** Allows a call with other arguments. What the gateway refuses is shown, and the call goes on waiting. */
export function EditModal({ call, reason, onClose, onAllowed }: EditModalProps) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const [text, setText] = useState(() => JSON.stringify(call.arguments, null, 2));
  const args = Arguments.safeParse(parsed(text));
  const allow = useMutation({
    mutationFn: (edited: z.output<typeof Arguments>) =>
      client.calls.decide(call.id, {
        decision: 'allow',
        arguments: edited,
        ...(call.approval && { digest: call.approval.digest }),
        ...(reason === '' ? {} : { reason }),
      }),
    onSuccess: () => {
      notifySuccess(`Allowed with edited arguments: ${call.tool}`);
      onAllowed();
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['approvals'] });
      void queries.invalidateQueries({ queryKey: ['call', call.id] });
    },
  });
  return (
    <Modal opened onClose={onClose} title={`Edit and allow ${call.tool}`} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        <ArgumentsInput
          description="The call runs once with exactly these. They are validated and judged as if the agent had sent them."
          value={text}
          onChange={setText}
        />
        {call.argumentsRedacted === true && (
          <Text size="sm" c="dimmed">
            These arguments hold secrets, which are not shown: write them in again, or allow the call without an edit.
          </Text>
        )}
        {allow.isError && <Refusal title="These arguments were not taken" error={allow.error} />}
        <DecisionArea shown={call.id}>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <DecisionButton
              color="teal.9"
              disabled={!args.success}
              loading={allow.isPending}
              onClick={() => args.success && allow.mutate(args.data)}
            >
              Allow these
            </DecisionButton>
          </Group>
        </DecisionArea>
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
