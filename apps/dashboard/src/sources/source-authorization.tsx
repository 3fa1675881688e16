import { Alert, Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SourceSummary } from '#contracts';
import { escapeInvisible } from '#subject';
import { notifyError, notifySuccess } from '../components/notify.js';
import { ScopedButton } from '../components/scoped-button.js';
import { Ago } from '../components/time.js';
import { useToolyard } from '../stream/toolyard.js';

/** Authorization of the source by a person, with its actions; nothing for a source that needs none. */
export function SourceAuthorization({ source: { name, authorization } }: { readonly source: SourceSummary }) {
  if (authorization === undefined) return null;
  const { state, reason, by, at } = authorization;
  return (
    <Alert
      color={state === 'granted' ? 'gray' : 'orange'}
      title={state === 'granted' ? 'Authorized' : 'Needs authorization'}
      data-authorization={state}
    >
      <Text size="sm" mb="xs" style={{ overflowWrap: 'anywhere' }}>
        {reason !== undefined && <>{escapeInvisible(reason)}. </>}
        {by === undefined || at === undefined ? (
          'A person signs in at the issuer of the tokens. All who may call the tools then use what that person allows.'
        ) : (
          <>
            {escapeInvisible(by)} authorized it <Ago at={Date.parse(at)} />.
          </>
        )}
      </Text>
      <Group gap="xs">
        <Authorize name={name} again={state === 'granted'} />
        {by !== undefined && <Revoke name={name} />}
      </Group>
    </Alert>
  );
}

function Authorize({ name, again }: { readonly name: string; readonly again: boolean }) {
  const { client } = useToolyard();
  const authorize = useMutation({
    mutationFn: () => client.sources.authorize(name),
    // The gateway has checked that it is an address of the issuer, over HTTP.
    onSuccess: ({ url }) => location.assign(url),
    onError: (error) => notifyError('The authorization did not begin', error),
  });
  return (
    <ScopedButton
      scope="admin"
      size="xs"
      variant={again ? 'default' : 'filled'}
      loading={authorize.isPending}
      onClick={() => authorize.mutate()}
    >
      {again ? 'Authorize again' : 'Authorize'}
    </ScopedButton>
  );
}

function Revoke({ name }: { readonly name: string }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.sources.revokeAuthorization(name),
    onSuccess: async ({ atIssuer }) => {
      notifySuccess(atIssuer ? 'The tokens are revoked' : 'The tokens are removed here; the issuer did not say that it ended them');
      await queries.invalidateQueries({ queryKey: ['source', name] });
    },
    onError: (error) => notifyError('The authorization was not revoked', error),
  });
  return (
    <Button size="xs" variant="light" color="red" loading={revoke.isPending} onClick={() => revoke.mutate()}>
      Revoke
    </Button>
  );
}
