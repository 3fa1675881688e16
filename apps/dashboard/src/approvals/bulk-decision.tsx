import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import type { Call } from '#contracts';
import { escapeInvisible, plainReasons } from '#subject';
import { LinkAnchor } from '../components/links.js';
import { RiskBadge } from '../components/risk-badge.js';
import { SubjectView } from '../subject/subject-view.js';
import { DecisionArea, DecisionButton } from './decision-area.js';
import classes from './decision-card.module.css';
import { usePendingDecisions } from './use-pending-decisions.js';

interface BulkDecisionProps {
  /** Calls as they were when selected: an answer applies to exactly these. */
  readonly calls: readonly Call[];
  /** The calls that still wait. */
  readonly waiting: readonly Call[];
  readonly onClear: () => void;
}

/** The selected calls, each with all that it would do, and one answer for them. The gateway evaluates each on its own. */
export function BulkDecision({ calls, waiting, onClear }: BulkDecisionProps) {
  const held = usePendingDecisions();
  const [reason, setReason] = useState('');
  const say = (decision: 'allow' | 'deny') => {
    held.hold(calls.map((call) => ({ call, option: { decision, scope: 'once' }, reason })));
    onClear();
  };
  return (
    <Paper withBorder p="md" className={classes.card} component="section" aria-label="Selected calls">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>{calls.length === 1 ? 'May this call run?' : `May these ${calls.length} calls run?`}</Title>
          <Button size="compact-sm" variant="default" onClick={onClear}>
            Select none
          </Button>
        </Group>
        <TextInput
          label="Reason"
          description="Kept with each call, and sent to its agent when denied."
          placeholder="Optional"
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <DecisionArea shown={calls.map(({ id }) => id).join(' ')}>
          <Group gap="xs" className={classes.answers}>
            <DecisionButton color="red.8" onClick={() => say('deny')}>
              Deny {calls.length}
            </DecisionButton>
            <DecisionButton color="teal.9" onClick={() => say('allow')}>
              Allow {calls.length} once
            </DecisionButton>
          </Group>
        </DecisionArea>
        {calls.map((call, index) => (
          <Paper key={call.id} withBorder p="sm" component="article" aria-label={`Selected call ${index + 1}`} data-selected={call.id}>
            <Group gap="xs" mb={4}>
              <LinkAnchor size="sm" underline="always" to="/calls/$callId" params={{ callId: call.id }}>
                {call.tool}
              </LinkAnchor>
              <RiskBadge risk={call.risk} />
              <Text size="xs" c="dimmed">
                {[call.agentId, call.sessionId].filter(Boolean).join(' · ') || 'no session'}
              </Text>
            </Group>
            <Changed call={call} now={waiting.find(({ id }) => id === call.id)} />
            <SubjectView call={call} place={index + 1} />
            <Text size="sm" mt={4}>
              {escapeInvisible(plainReasons(call)[0] ?? '')}
            </Text>
          </Paper>
        ))}
      </Stack>
    </Paper>
  );
}

/** State of a call that has changed since it was selected. */
function Changed({ call, now }: { readonly call: Call; readonly now: Call | undefined }) {
  if (now !== undefined && now.approval?.digest === call.approval?.digest) return null;
  return (
    <Text size="sm" fw={600} role="status">
      {now === undefined
        ? 'It no longer waits; an answer will be refused.'
        : 'It has changed since you selected it; an answer will be refused. Select it again.'}
    </Text>
  );
}
