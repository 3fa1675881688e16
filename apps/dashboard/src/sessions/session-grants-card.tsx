import { Code, CloseButton, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Session, SessionGrants } from '#contracts';
import { escapeInvisible } from '#subject';
import { useScopes } from '../stream/use-scopes.js';
import { notifySuccess, notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';

interface Grant {
  readonly what: string;
  readonly value: string;
  /** The grants without this one. */
  readonly without: SessionGrants;
}

/** The grants and denials for the rest of the session, each with a button to revoke it. */
export function SessionGrantsCard({ session }: { readonly session: Session }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: ({ without }: Grant) => client.sessions.put(session.id, { grants: without }),
    onSuccess: (changed) => {
      queries.setQueryData(['session', session.id], changed);
      notifySuccess('Taken back');
    },
    onError: (error) => notifyError('It was not taken back', error),
  });
  const lacking = useScopes().lacks('admin');
  const grants = grantsOf(session.grants);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Grants">
      <Title order={2} mb="xs">
        Grants
      </Title>
      {grants.length === 0 && (
        <Text size="sm" c="dimmed">
          Nothing is trusted or denied beyond the posture. Answers of the kind “always” in the approvals add to this.
        </Text>
      )}
      <Stack gap={4}>
        {grants.map((grant) => (
          <Group key={`${grant.what} ${grant.value}`} gap="xs" justify="space-between" wrap="nowrap">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {grant.what} <Code>{escapeInvisible(grant.value)}</Code>
            </Text>
            <CloseButton
              size="sm"
              aria-label={`Take back: ${grant.what} ${grant.value}`}
              disabled={revoke.isPending || lacking !== undefined}
              title={lacking}
              onClick={() => revoke.mutate(grant)}
            />
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}

const NO_PATHS = { allowed: { read: [], write: [] }, denied: { read: [], write: [] } };

function grantsOf(grants: SessionGrants): Grant[] {
  const { allowedPaths, deniedPaths, literalPaths = NO_PATHS } = grants;
  const { allowed, denied } = literalPaths;
  const kept = (change: Partial<typeof literalPaths>) => ({ literalPaths: { ...literalPaths, ...change } });
  const each = (what: string, values: readonly string[], without: (kept: string[]) => Partial<SessionGrants>): Grant[] =>
    values.map((value) => ({ what, value, without: { ...grants, ...without(values.filter((other) => other !== value)) } }));
  return [
    ...each('Trusted tool', grants.trustedTools, (trustedTools) => ({ trustedTools })),
    ...each('Denied tool', grants.deniedTools, (deniedTools) => ({ deniedTools })),
    ...each('May read', allowedPaths.read, (read) => ({ allowedPaths: { ...allowedPaths, read } })),
    ...each('May write', allowedPaths.write, (write) => ({ allowedPaths: { ...allowedPaths, write } })),
    ...each('May not read', deniedPaths.read, (read) => ({ deniedPaths: { ...deniedPaths, read } })),
    ...each('May not write', deniedPaths.write, (write) => ({ deniedPaths: { ...deniedPaths, write } })),
    ...each('May read the path', allowed.read, (read) => kept({ allowed: { ...allowed, read } })),
    ...each('May write the path', allowed.write, (write) => kept({ allowed: { ...allowed, write } })),
    ...each('May not read the path', denied.read, (read) => kept({ denied: { ...denied, read } })),
    ...each('May not write the path', denied.write, (write) => kept({ denied: { ...denied, write } })),
    ...each('Trusted command', grants.allowedCommands, (allowedCommands) => ({ allowedCommands })),
  ];
}
