import { Group } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconPlayerSkipForward } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schedule } from '#contracts';
import { ConfirmModal } from '../components/confirm-modal.js';
import { notifyError, notifySuccess } from '../components/notify.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useScopes } from '../stream/use-scopes.js';
import { useToolyard } from '../stream/toolyard.js';
import { nameOf } from './schedule-parts.js';

interface ActionsProps {
  readonly schedule: Schedule;
  /** True to show the button that removes it. */
  readonly whole?: boolean;
}

/** Actions for a schedule: allowed to the key that made it, and to the scope `admin`. */
export function ScheduleActions({ schedule, whole = false }: ActionsProps) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const { keyId, lacks } = useScopes();
  const foreign = lacks('admin') !== undefined && keyId !== schedule.keyId;
  const whyNot = foreign ? `Only the key ${schedule.keyId}, which made it, or one with the scope admin may change it.` : undefined;
  const paused = schedule.paused !== undefined;
  const toggle = useMutation({
    mutationFn: () => (paused ? client.schedules.resume(schedule.id) : client.schedules.pause(schedule.id)),
    onSuccess: () => notifySuccess(`${nameOf(schedule)} is ${paused ? 'active again' : 'paused'}`),
    onError: (error) => notifyError('The schedule was not changed', error),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['schedules'] }),
  });
  const run = useMutation({
    mutationFn: () => client.schedules.run(schedule.id),
    onSuccess: ({ id }) => void navigate({ to: '/calls/$callId', params: { callId: id } }),
    onError: (error) => notifyError('It was not run', error),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['schedules'] }),
  });
  const ToggleIcon = paused ? IconPlayerPlay : IconPlayerPause;
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      <ScopedButton
        scope="submit"
        whyNot={whyNot}
        size="compact-xs"
        variant="default"
        loading={toggle.isPending}
        leftSection={<ToggleIcon size={13} aria-hidden />}
        onClick={() => toggle.mutate()}
      >
        {paused ? 'Resume' : 'Pause'}
      </ScopedButton>
      <ScopedButton
        scope="submit"
        whyNot={whyNot}
        size="compact-xs"
        variant="default"
        loading={run.isPending}
        leftSection={<IconPlayerSkipForward size={13} aria-hidden />}
        onClick={() => run.mutate()}
      >
        Run now
      </ScopedButton>
      {whole && (
        <ScopedButton scope="submit" whyNot={whyNot} size="compact-xs" color="red" variant="light" onClick={() => setRemoving(true)}>
          Remove
        </ScopedButton>
      )}
      {removing && <RemoveModal schedule={schedule} onClose={() => setRemoving(false)} />}
    </Group>
  );
}

function RemoveModal({ schedule, onClose }: { readonly schedule: Schedule; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmModal
      title={`Remove ${nameOf(schedule)}?`}
      confirm="Remove it"
      scope="submit"
      action={() => client.schedules.delete(schedule.id)}
      done={() => `${nameOf(schedule)} is removed`}
      failed="The schedule was not removed"
      onDone={async () => {
        await navigate({ to: '/schedules' });
        void queries.invalidateQueries({ queryKey: ['schedules'] });
      }}
      onClose={onClose}
    >
      It makes no more calls. Calls that it made go on, and stay in the list.
    </ConfirmModal>
  );
}
