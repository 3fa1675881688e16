import { Paper, Select, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Autonomy, PermissionMode, type Posture, type Session } from '#contracts';
import { useScopes } from '../stream/use-scopes.js';
import { notifySuccess, notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

const AUTONOMY: Readonly<Record<Autonomy, string>> = {
  read_only: 'Read only',
  supervised: 'Supervised: risky calls ask',
  full: 'Full: calls run without approval',
};
const MODES: Readonly<Record<PermissionMode, string>> = {
  'read-only': 'Read only',
  'workspace-write': 'May write its workspace',
  'danger-full-access': 'Full access',
  prompt: 'Ask for everything',
  allow: 'Allow everything',
};

/** The posture of the session; a change applies from the next call on. */
export function SessionPostureCard({ session }: { readonly session: Session }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const put = useMutation({
    mutationFn: (posture: Partial<Posture>) => client.sessions.put(session.id, { posture }),
    onSuccess: (changed) => {
      queries.setQueryData(['session', session.id], changed);
      notifySuccess('Holds from the next call on');
    },
    onError: (error) => notifyError('The posture was not changed', error),
  });
  const lacking = useScopes().lacks('admin');
  const { autonomy, permissionMode } = put.isPending ? { ...session.posture, ...put.variables } : session.posture;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Posture">
      <Title order={2} mb="xs">
        Posture
      </Title>
      <Stack gap="xs">
        <Select
          label="Autonomy"
          disabled={lacking !== undefined}
          allowDeselect={false}
          data={Autonomy.options.map((value) => ({ value, label: AUTONOMY[value] }))}
          value={autonomy}
          onChange={(value) => put.mutate({ autonomy: Autonomy.parse(value) })}
        />
        <Select
          label="Permissions"
          disabled={lacking !== undefined}
          allowDeselect={false}
          data={PermissionMode.options.map((value) => ({ value, label: MODES[value] }))}
          value={permissionMode}
          onChange={(value) => put.mutate({ permissionMode: PermissionMode.parse(value) })}
        />
        {lacking !== undefined && (
          <Text size="xs" c="dimmed">
            {lacking}
          </Text>
        )}
        {session.tools && <Text size="xs">Tools: {session.tools.join(', ')}</Text>}
        {session.strategy && <Text size="xs">Batches: {session.strategy.type}</Text>}
        {session.allowedTools && <Text size="xs">Run without asking: {session.allowedTools.join(', ')}</Text>}
      </Stack>
    </Paper>
  );
}
