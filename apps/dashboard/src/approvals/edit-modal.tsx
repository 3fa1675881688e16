import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { ToolyardError } from '#client';
import type { Call } from '#contracts';
import { Arguments, ArgumentsEditor } from '../components/arguments-editor.js';
import { Refusal } from '../components/refusal.js';
import { notifySuccess } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';
import { ArgumentChanges } from './argument-changes.js';
import { DecisionArea, DecisionButton } from './decision-area.js';

export interface EditModalProps {
  readonly call: Call;
  readonly reason: string;
  readonly onClose: () => void;
  readonly onAllowed: () => void;
}

/**
 * Allows a call with other arguments: in the form of its tool or as JSON, with the difference to what was asked for. What the gateway
 * refuses is shown, and the call goes on waiting.
 */
export function EditModal({ call, reason, onClose, onAllowed }: EditModalProps) {
  const [value, setValue] = useState<unknown>(call.arguments);
  const args = Arguments.safeParse(value);
  const allow = useAllowEdited({ call, reason, onAllowed });
  return (
    <Modal opened onClose={onClose} title={`Edit and allow ${call.tool}`} size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        <Text size="sm">The call runs once with exactly these. They are validated and evaluated as if the agent had sent them.</Text>
        <ArgumentsEditor tool={call.tool} value={value} onChange={setValue} violations={violationsOf(allow.error)} />
        {call.argumentsRedacted === true && (
          <Text size="sm" c="dimmed">
            These arguments hold secrets, which are not shown: write them in again, or allow the call without an edit.
          </Text>
        )}
        {args.success && <ArgumentChanges asked={Arguments.safeParse(call.arguments).data ?? {}} edited={args.data} />}
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

function useAllowEdited({ call, reason, onAllowed }: Omit<EditModalProps, 'onClose'>) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  return useMutation({
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
}

function violationsOf(error: Error | null) {
  return (error instanceof ToolyardError && error.problem?.errors) || [];
}
