import { useQuery } from '@tanstack/react-query';
import type { Scope } from '#contracts';
import { useToolyard } from './toolyard.js';

/** The scopes of the key. Nothing is disabled until they are loaded; the gateway checks them anyway. */
export function useScopes(): { readonly keyId: string | undefined; readonly lacks: (scope: Scope) => string | undefined } {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => client.gateway.whoAmI({ signal }),
    staleTime: 60_000,
  });
  return {
    keyId: data?.keyId,
    lacks: (scope) =>
      data === undefined || data.scopes.includes(scope)
        ? undefined
        : `Needs a key with the scope ${scope}; yours (${data.keyId}) has ${data.scopes.join(', ')}.`,
  };
}
