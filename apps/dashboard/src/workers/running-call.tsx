import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Call } from '#contracts';
import { CallLink } from '../call/call-facts.js';
import { LinkAnchor } from '../components/links.js';
import { Since } from '../components/time.js';
import { useToolyard } from '../stream/toolyard.js';
import { useSubjectLine } from '../subject/use-subject-line.js';

/** Running call of a worker: its subject and duration. Another tenant's call shows only its id. */
export function RunningCall({ callId }: { readonly callId: string }) {
  const { client } = useToolyard();
  const { data: call } = useQuery({
    queryKey: ['running-call', callId],
    queryFn: ({ signal }) => client.calls.get(callId, { signal }),
    staleTime: 60_000,
    retry: false,
  });
  return call === undefined ? <CallLink id={callId} /> : <Line call={call} />;
}

function Line({ call }: { readonly call: Call }) {
  const subject = useSubjectLine(call);
  return (
    <Group gap="xs" wrap="nowrap">
      <LinkAnchor size="xs" ff="monospace" truncate style={{ flex: 1, minWidth: 0 }} to="/calls/$callId" params={{ callId: call.id }}>
        {subject === '' ? call.tool : subject}
      </LinkAnchor>
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {call.startedAt !== undefined && <Since at={Date.parse(call.startedAt)} />}
      </Text>
    </Group>
  );
}
