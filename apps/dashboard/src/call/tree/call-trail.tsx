import { Breadcrumbs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Call } from '#contracts';
import { LinkAnchor } from '../../components/links.js';
import { useToolyard } from '../../stream/toolyard.js';
import classes from './call-trail.module.css';

/** Position of a call: its session, batch, root and parent. Nothing for a call without any. */
export function CallTrail({ call }: { readonly call: Call }) {
  const { sessionId, batchId, parentCallId, rootCallId } = call;
  if (sessionId === undefined && batchId === undefined && parentCallId === undefined) return null;
  return (
    <Breadcrumbs separator="›" separatorMargin={6} component="nav" aria-label="Where it stands" mb={4} classNames={classes}>
      {sessionId !== undefined && (
        <LinkAnchor size="sm" to="/sessions/$sessionId" params={{ sessionId }}>
          {sessionId}
        </LinkAnchor>
      )}
      {batchId !== undefined && (
        <LinkAnchor size="sm" to="/calls" search={{ batchId }}>
          batch
        </LinkAnchor>
      )}
      {rootCallId !== undefined && rootCallId !== parentCallId && <Above id={rootCallId} />}
      {parentCallId !== undefined && <Above id={parentCallId} />}
      <Text size="sm" c="dimmed" aria-current="page">
        {call.tool}
      </Text>
    </Breadcrumbs>
  );
}

/** A call above, by the name of its tool. */
function Above({ id }: { readonly id: string }) {
  const { client } = useToolyard();
  const { data } = useQuery({ queryKey: ['call', id], queryFn: ({ signal }) => client.calls.get(id, { signal }), staleTime: 10_000 });
  return (
    <LinkAnchor size="sm" to="/calls/$callId" params={{ callId: id }} title={id}>
      {data?.tool ?? '…'}
    </LinkAnchor>
  );
}
