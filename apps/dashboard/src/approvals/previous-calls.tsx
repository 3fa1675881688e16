import { Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Call } from '#contracts';
import { CallLine } from '../calls/call-line.js';
import { useToolyard } from '../stream/toolyard.js';

const SHOWN = 3;

/** Previous calls of the session; nothing for its first call, or without stored lists. */
export function PreviousCalls({ call: { id, sessionId, submittedAt } }: { readonly call: Call }) {
  const { client } = useToolyard();
  const { data = [] } = useQuery({
    queryKey: ['previous-calls', id],
    queryFn: async ({ signal }) => {
      const { calls } = await client.calls.list({ sessionId, until: submittedAt, limit: SHOWN + 1 }, { signal });
      return calls.filter((each) => each.id !== id).slice(0, SHOWN);
    },
    enabled: sessionId !== undefined,
    staleTime: 30_000,
    retry: false,
  });
  if (data.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Before this in the session">
      <Text size="sm" fw={600}>
        Before this in the session
      </Text>
      {data.toReversed().map((each) => (
        <CallLine key={each.id} call={each} />
      ))}
    </Paper>
  );
}
