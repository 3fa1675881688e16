import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { escapeInvisible, plainReasons } from '#subject';
import { DecisionArea, DecisionButton } from '../approvals/decision-area.js';
import { SecondsLeft } from '../approvals/pending-decisions-bar.js';
import { useAnswer } from '../approvals/use-pending-decisions.js';
import { LinkAnchor } from '../components/links.js';
import { PausedAt } from '../components/paused.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useTool } from '../components/use-subjects.js';
import { useToolyard } from '../stream/toolyard.js';
import { isShownWhole } from './shown-whole.js';

interface InlineDecisionProps {
  readonly callId: string;
  readonly tool: string;
  /** Text of the call in the row. */
  readonly line: string;
}

/**
 * Deny, and allow if the row says all that the call does, where the agent that waits is shown. Both have their places before the
 * question is there. Everything else about it is on the page of the call.
 */
export function InlineDecision({ callId, tool, line }: InlineDecisionProps) {
  const { client } = useToolyard();
  const { data: call } = useQuery({ queryKey: ['asked-call', callId], queryFn: ({ signal }) => client.calls.get(callId, { signal }) });
  const descriptor = useTool(tool);
  const held = useAnswer(callId);
  const isWhole = call !== undefined && descriptor !== undefined && isShownWhole(line, call, descriptor);
  const say = (decision: 'allow' | 'deny') => call && held.give({ call, option: { decision, scope: 'once' }, reason: '' });
  if (held.group)
    return (
      <Group gap="xs" mt={4}>
        <Text size="xs">
          {held.answer?.option.decision === 'allow' ? 'Allow' : 'Deny'}{' '}
          <PausedAt value={undefined}>
            <SecondsLeft dueAt={held.group.dueAt} />
          </PausedAt>
        </Text>
        <ScopedButton scope="approve" size="compact-xs" variant="default" onClick={held.undo}>
          Undo
        </ScopedButton>
      </Group>
    );
  const notYet = call === undefined || descriptor === undefined ? 'The question is loading.' : undefined;
  return (
    <DecisionArea shown={[callId, call?.approval?.digest, isWhole].join(' ')}>
      <Group gap="xs" mt={4}>
        <DecisionButton size="compact-xs" color="red.8" whyNot={notYet} loading={held.isSending} onClick={() => say('deny')}>
          Deny
        </DecisionButton>
        <DecisionButton
          size="compact-xs"
          color="teal.9"
          whyNot={notYet ?? (isWhole ? undefined : 'The row does not show all that the call does: look closer.')}
          loading={held.isSending}
          onClick={() => say('allow')}
        >
          Allow once
        </DecisionButton>
        <LinkAnchor size="xs" underline="always" to="/calls/$callId" params={{ callId }}>
          Look closer
        </LinkAnchor>
        <Text size="xs" c="dimmed" style={{ flex: '1 1 200px' }} lineClamp={2}>
          {escapeInvisible(call === undefined ? '' : (plainReasons(call)[0] ?? ''))}
        </Text>
      </Group>
    </DecisionArea>
  );
}
