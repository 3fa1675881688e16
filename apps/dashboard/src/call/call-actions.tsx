import { Button, Group, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconBan, IconCopy, IconEdit, IconRepeat } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Call } from '#contracts';
import { asCli, asCurl, asPython, asSdk } from '#subject';
import { ScopedButton } from '../components/scoped-button.js';
import { notifySuccess, notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';
import { ReplayModal } from './replay-modal.js';

/** The actions of a call. */
export function CallActions({ call }: { readonly call: Call }) {
  const { client } = useToolyard();
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const cancel = useMutation({
    mutationFn: () => client.calls.cancel(call.id, { reason: 'cancelled in the dashboard' }),
    onSuccess: () => notifySuccess('Cancel asked for'),
    onError: (error) => notifyError('The call was not cancelled', error),
  });
  const replay = useMutation({
    mutationFn: () => client.calls.replay(call.id),
    onSuccess: ({ id }) => {
      notifySuccess('Runs again as a new call');
      void navigate({ to: '/calls/$callId', params: { callId: id } });
    },
    onError: (error) => notifyError('The call was not replayed', error),
  });
  return (
    <Group gap="xs">
      {call.status !== 'ended' && (
        <ScopedButton
          scope="cancel"
          size="xs"
          variant="light"
          color="red"
          leftSection={<IconBan size={15} aria-hidden />}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          Cancel
        </ScopedButton>
      )}
      {/* Replay only after the end: before, it would run a second call beside the first. */}
      {call.status === 'ended' && (
        <>
          <ScopedButton
            scope="submit"
            size="xs"
            variant="default"
            leftSection={<IconRepeat size={15} aria-hidden />}
            loading={replay.isPending}
            onClick={() => replay.mutate()}
          >
            Replay
          </ScopedButton>
          <ScopedButton
            scope="submit"
            size="xs"
            variant="default"
            leftSection={<IconEdit size={15} aria-hidden />}
            onClick={() => setEditing(true)}
          >
            Edit and replay
          </ScopedButton>
        </>
      )}
      <CopyMenu call={call} />
      {editing && <ReplayModal call={call} onClose={() => setEditing(false)} />}
    </Group>
  );
}

function CopyMenu({ call }: { readonly call: Call }) {
  const { copy, copied } = useClipboard({ timeout: 1500 });
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconCopy size={15} aria-hidden />}>
          {copied ? 'Copied' : 'Copy as'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy(asCurl(call, location.origin))}>curl</Menu.Item>
        <Menu.Item onClick={() => copy(asSdk(call, location.origin))}>TypeScript</Menu.Item>
        <Menu.Item onClick={() => copy(asPython(call, location.origin))}>Python</Menu.Item>
        <Menu.Item onClick={() => copy(asCli(call, location.origin))}>Command line</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => copy(call.id)}>Its id</Menu.Item>
        <Menu.Item onClick={() => copy(JSON.stringify(call, null, 2))}>The call as JSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
