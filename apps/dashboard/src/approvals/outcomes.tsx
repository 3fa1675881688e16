import { Badge, Button, Group, Paper, Text, Title } from '@mantine/core';
import { LinkAnchor } from '../components/links.js';
import { messageOf } from '../components/states.js';
import { useSubjectLine } from '../subject/use-subject-line.js';
import classes from './approvals-page.module.css';
import type { Outcome } from './pending-decisions.js';
import { usePendingDecisions } from './use-pending-decisions.js';

/** Results of the answers that this page sent, newest first. */
export function Outcomes() {
  const held = usePendingDecisions();
  const outcomes = held.outcomes.toReversed();
  if (outcomes.length === 0) return null;
  return (
    <Paper withBorder mt="md" p="sm" component="section" aria-label="Your answers">
      <Group justify="space-between" mb={4}>
        <Title order={2} size="h4">
          Your answers
        </Title>
        <Button size="compact-xs" variant="default" onClick={() => held.forgetOutcomes()}>
          Clear
        </Button>
      </Group>
      <div className={classes['outcomes']} tabIndex={0} role="group" aria-label="Answers, newest first">
        {outcomes.map((outcome) => (
          <OutcomeLine key={outcome.answer.call.id} outcome={outcome} />
        ))}
      </div>
    </Paper>
  );
}

function OutcomeLine({ outcome: { answer, state, error } }: { readonly outcome: Outcome }) {
  const isAllow = answer.option.decision === 'allow';
  const label = { sending: 'sending', taken: isAllow ? 'allowed' : 'denied', refused: 'not taken' }[state];
  const color = state === 'refused' ? 'orange' : isAllow ? 'teal' : 'red';
  return (
    <div data-outcome={answer.call.id} data-state={state}>
      <Group gap="xs" wrap="nowrap">
        <Badge variant="dot" size="sm" tt="none" color={color} miw="max-content">
          {label}
        </Badge>
        <LinkAnchor size="xs" underline="always" to="/calls/$callId" params={{ callId: answer.call.id }}>
          {answer.call.tool}
        </LinkAnchor>
        <Text size="xs" ff="monospace" truncate>
          {useSubjectLine(answer.call)}
        </Text>
      </Group>
      {state === 'refused' && <Text size="xs">{messageOf(error)}</Text>}
    </div>
  );
}
