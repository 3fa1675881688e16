import { Button, Group, Modal, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { escapeInvisible } from '#subject';
import { notifyError, notifySuccess } from '../components/notify.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useToolyard } from '../stream/toolyard.js';

/** Asks before everything of a session is cancelled. */
export function CancelSessionModal({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const cancel = useMutation({
    mutationFn: () => client.sessions.cancel(sessionId, { reason: 'stopped in the dashboard' }),
    onSuccess: () => {
      notifySuccess(`Cancelled: the open calls of ${sessionId}`);
      onClose();
    },
    onError: (error) => notifyError('The session was not cancelled', error),
  });
  return (
    <Modal opened onClose={onClose} title={`Cancel session ${escapeInvisible(sessionId)}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Text size="sm" mb="md">
        Its calls that have not ended are cancelled, and so are its batches.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <ScopedButton scope="cancel" color="red.8" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel it
        </ScopedButton>
      </Group>
    </Modal>
  );
}
