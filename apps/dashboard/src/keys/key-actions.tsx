import { Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '#contracts';
import { ConfirmModal } from '../components/confirm-modal.js';
import { Refusal } from '../components/refusal.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useToolyard } from '../stream/toolyard.js';
import { IssuedKeyText } from './issued-key.js';
import { keyNameOf } from './key-parts.js';

const HOUR_MS = 3_600_000;
const OVERLAPS = [
  { value: String(24 * HOUR_MS), label: 'works for one more day' },
  { value: String(HOUR_MS), label: 'works for one more hour' },
  { value: String(7 * 24 * HOUR_MS), label: 'works for one more week' },
  { value: '0', label: 'ends at once' },
];

/** Actions for a key that was made here. Keys of the config file are changed there. */
export function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  if (apiKey.origin === 'config' || apiKey.status !== 'active') return null;
  const close = () => setAsked(undefined);
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      <ScopedButton scope="admin" size="compact-xs" variant="default" onClick={() => setAsked('rotate')}>
        Rotate …
      </ScopedButton>
      <ScopedButton scope="admin" size="compact-xs" variant="default" onClick={() => setAsked('revoke')}>
        Revoke …
      </ScopedButton>
      {asked === 'rotate' && <RotateModal apiKey={apiKey} onClose={close} />}
      {asked === 'revoke' && <RevokeModal apiKey={apiKey} onClose={close} />}
    </Group>
  );
}

interface ModalProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

function RotateModal({ apiKey, onClose }: ModalProps) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const [overlapMs, setOverlap] = useState(OVERLAPS[0]?.value ?? '0');
  const rotate = useMutation({
    mutationFn: () => client.keys.rotate(apiKey.id, { overlapMs: Number(overlapMs) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  return (
    <Modal opened onClose={onClose} title={`Rotate ${keyNameOf(apiKey)}`} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        {rotate.data === undefined ? (
          <>
            <Text size="sm">The key gets a new text; its id, its rights and its end stay.</Text>
            <NativeSelect
              label="The text that it has now"
              value={overlapMs}
              onChange={({ currentTarget }) => setOverlap(currentTarget.value)}
              data={OVERLAPS}
            />
            {rotate.isError && <Refusal title="The key was not rotated" error={rotate.error} />}
          </>
        ) : (
          <IssuedKeyText issued={rotate.data} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {rotate.data === undefined ? 'Keep it' : 'Close'}
          </Button>
          {rotate.data === undefined && (
            <ScopedButton scope="admin" loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate it
            </ScopedButton>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

function RevokeModal({ apiKey, onClose }: ModalProps) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  return (
    <ConfirmModal
      title={`Revoke ${keyNameOf(apiKey)}?`}
      confirm="Revoke it"
      scope="admin"
      action={() => client.keys.revoke(apiKey.id).finally(() => void queries.invalidateQueries({ queryKey: ['keys'] }))}
      done={() => `${keyNameOf(apiKey)} is revoked`}
      failed="The key was not revoked"
      onClose={onClose}
    >
      Programs with this key are refused at once, its streams are closed and its schedules pause. Keys that were made with it go on. This
      cannot be undone.
    </ConfirmModal>
  );
}
