import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { escapeInvisible } from '#subject';
import { useAnswer } from '../approvals/use-answer.js';
import { LinkAnchor } from '../components/links.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useToolyard } from '../stream/toolyard.js';

/** Allow or deny, where the agent that waits is shown. Everything else about the question is on the page of the call. */
export function InlineDecision({ callId }: { readonly callId: string }) {
  const { client } = useToolyard();
  const { data: call } = useQuery({ queryKey: ['asked-call', callId], queryFn: ({ signal }) => client.calls.get(callId, { signal }) });
  const answer = useAnswer();
  const say = (decision: 'allow' | 'deny') => call && answer.mutate({ call, option: { decision, scope: 'once' }, reason: '' });
  return (
    <Group gap="xs" mt={4}>
      <ScopedButton
        scope="approve"
        size="compact-xs"
        color="teal.9"
        disabled={!call}
        loading={answer.isPending}
        onClick={() => say('allow')}
      >
        Allow once
      </ScopedButton>
      <ScopedButton scope="approve" size="compact-xs" color="red.8" disabled={!call} loading={answer.isPending} onClick={() => say('deny')}>
        Deny
      </ScopedButton>
      <LinkAnchor size="xs" underline="always" to="/calls/$callId" params={{ callId }}>
        Look closer
      </LinkAnchor>
      <Text size="xs" c="dimmed" style={{ flex: '1 1 200px' }} lineClamp={2}>
        {escapeInvisible(call?.approval?.reasons[0] ?? '')}
      </Text>
    </Group>
  );
}
