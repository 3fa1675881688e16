import { ActionIcon, Button, Popover, Stack, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconLogout, IconUser } from '@tabler/icons-react';
import { escapeInvisible } from '#subject';
import { notifyError } from '../components/notify.js';
import { setKey, useKey } from '../session/key.js';
import { useToolyard } from '../stream/toolyard.js';

/** Person or key that uses the page, with the logout. */
export function UserMenu() {
  return useKey() === undefined ? <PersonMenu /> : <KeySignOut />;
}

function KeySignOut() {
  return (
    <Tooltip label="Sign out">
      <ActionIcon variant="subtle" color="gray" aria-label="Sign out" onClick={() => setKey(undefined)}>
        <IconLogout size={18} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

function PersonMenu() {
  const { client } = useToolyard();
  const { data } = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.gateway.me({ signal }), staleTime: 60_000 });
  const { subject = '', name = subject, email } = data?.person ?? {};
  const signOut = async () => {
    try {
      location.assign((await client.gateway.signOut()).providerUrl ?? '/');
    } catch (error) {
      notifyError('Not signed out', error);
    }
  };
  return (
    <Popover position="bottom-end" width={260} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Your login">
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Your login">
        <Stack gap={4} style={{ overflowWrap: 'anywhere' }}>
          <Text size="sm" fw={600}>
            {escapeInvisible(name)}
          </Text>
          {email !== undefined && (
            <Text size="xs" c="dimmed">
              {escapeInvisible(email)}
            </Text>
          )}
          <Text size="xs" c="dimmed">
            Roles: {escapeInvisible(data?.login?.roles.join(', ') ?? '')}
          </Text>
          <Text size="xs" c="dimmed">
            Tenant: {data?.tenantId}
          </Text>
          <Button mt="xs" size="xs" variant="default" leftSection={<IconLogout size={14} aria-hidden />} onClick={() => void signOut()}>
            Sign out
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
