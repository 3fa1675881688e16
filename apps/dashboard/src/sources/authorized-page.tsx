import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { LinkButton } from '../components/links.js';
import { notifySuccess } from '../components/notify.js';
import { PageHead } from '../components/page-head.js';
import { ScopeOnly } from '../components/scope-only.js';
import { ErrorState, LoadingRows } from '../components/states.js';
import { useToolyard } from '../stream/toolyard.js';

/** Page to which an issuer of tokens sends a person back. */
export function AuthorizedPage() {
  return (
    <ScopeOnly scope="admin" title="Authorization of a source">
      <Finish />
    </ScopeOnly>
  );
}

/** Finishes the authorization once, and goes on to its source: the code does not stay in the address. */
function Finish() {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { href } = location;
  const { data, error } = useQuery({
    queryKey: ['authorized', href],
    queryFn: () => client.sources.finishAuthorization(href),
    retry: false,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const name = data?.name;
  useEffect(() => {
    if (name === undefined) return;
    notifySuccess(`${name} is authorized`);
    void queries.invalidateQueries({ queryKey: ['source', name] });
    void navigate({ to: '/sources/$source', params: { source: name }, replace: true });
  }, [name, navigate, queries]);
  if (error === null) return <LoadingRows />;
  return (
    <>
      <PageHead title="Not authorized" about="Nothing was changed. Authorize the source again on its page." />
      <ErrorState error={error} />
      <LinkButton to="/sources" variant="default" size="xs" mt="md">
        All sources
      </LinkButton>
    </>
  );
}
