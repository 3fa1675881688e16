import { Alert, List, Text } from '@mantine/core';
import { IconShieldOff } from '@tabler/icons-react';
import type { WorkerStatus } from '#contracts';
import { escapeInvisible } from '#subject';

/** Above everything else: which workers run commands as themselves, with all that they may read, write and reach. */
export function NotIsolated({ workers }: { readonly workers: readonly WorkerStatus[] }) {
  const exposed = workers.filter(isExposed);
  if (exposed.length === 0) return null;
  const reasons = new Set(
    exposed.flatMap(({ sandbox = {} }) =>
      Object.values(sandbox).flatMap(({ isolation, reason }) => (isolation === 'none' && reason !== undefined ? [reason] : [])),
    ),
  );
  return (
    <Alert
      color="red"
      variant="filled"
      mb="md"
      icon={<IconShieldOff aria-hidden />}
      title={exposed.length === 1 ? 'Commands on this worker are not isolated' : `Commands on ${exposed.length} workers are not isolated`}
      data-not-isolated
      styles={{ root: { background: '#b02525' }, title: { color: '#ffffff' }, message: { color: '#ffffff' } }}
    >
      <Text size="sm" mb={4}>
        What agents run there has the rights of the worker: its files, its network and its environment.
      </Text>
      <List size="sm">
        {exposed.map(({ id }) => (
          <List.Item key={id}>{escapeInvisible(id)}</List.Item>
        ))}
      </List>
      {[...reasons].map((reason) => (
        <Text key={reason} size="sm" mt={4}>
          {escapeInvisible(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`)}
        </Text>
      ))}
    </Alert>
  );
}

export function isExposed({ sandbox = {} }: WorkerStatus): boolean {
  return Object.values(sandbox).some(({ ok, isolation }) => ok && isolation === 'none');
}
