import { Button, Group, Modal, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Scope } from '#contracts';
import { notifyError, notifySuccess } from './notify.js';
import { ScopedButton } from './scoped-button.js';

interface ConfirmModalProps<T> {
  readonly title: string;
  /** Consequences of the action. */
  readonly children: ReactNode;
  /** Label of the button that closes the dialog. */
  readonly keep?: string;
  /** Label of the button that runs the action. */
  readonly confirm: string;
  readonly scope: Scope;
  readonly color?: string;
  readonly action: () => Promise<T>;
  /** Message after a success. */
  readonly done: (result: T) => string;
  /** Title of the message after a failure. */
  readonly failed: string;
  /** Runs after a success, before the dialog closes. */
  readonly onDone?: () => void | Promise<void>;
  readonly onClose: () => void;
}

/** Dialog that asks before an action with consequences. A failure leaves it open. */
export function ConfirmModal<T>({
  title,
  children,
  keep = 'Keep it',
  confirm,
  scope,
  color = 'red.8',
  action,
  done,
  failed,
  onDone,
  onClose,
}: ConfirmModalProps<T>) {
  const { mutate, isPending } = useMutation({
    mutationFn: action,
    onSuccess: async (result) => {
      notifySuccess(done(result));
      await onDone?.();
      onClose();
    },
    onError: (error) => notifyError(failed, error),
  });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Text size="sm" mb="md">
        {children}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {keep}
        </Button>
        <ScopedButton scope={scope} color={color} loading={isPending} onClick={() => mutate()}>
          {confirm}
        </ScopedButton>
      </Group>
    </Modal>
  );
}
