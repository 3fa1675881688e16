import { Button, Group, Kbd, Paper, Text } from '@mantine/core';
import { useNow } from '../components/time.js';
import { useKeys } from '../components/use-keys.js';
import { DecisionArea, DecisionButton } from './decision-area.js';
import { usePendingDecisions, groupText } from './use-pending-decisions.js';
import classes from './pending-decisions-bar.module.css';

/** On every page: the answers that are not sent yet, and how to take them back. It covers, and moves nothing. */
export function PendingDecisionsBar() {
  const held = usePendingDecisions();
  const { groups } = held;
  const last = groups.at(-1);
  useKeys([['z', () => last && held.undo(last.id)]]);
  return (
    <div className={classes['bar']} role="status" aria-label="Answers that are not sent yet">
      {groups.map((group) => (
        <Paper key={group.id} withBorder shadow="md" p="xs" data-held={group.answers.length}>
          <Group gap="xs" wrap="nowrap" justify="space-between">
            <div>
              <Text size="sm" fw={600}>
                {groupText(group)} <SecondsLeft dueAt={group.dueAt} />
              </Text>
              <Text size="xs" c="dimmed">
                Closing this tab takes it back.
              </Text>
            </div>
            <Group gap={6} wrap="nowrap">
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => held.undo(group.id)}
                rightSection={group === last && <Kbd size="xs">z</Kbd>}
              >
                Undo
              </Button>
              <DecisionArea shown={String(group.id)}>
                <DecisionButton size="compact-sm" variant="default" onClick={() => void held.sendNow(group.id)}>
                  Now
                </DecisionButton>
              </DecisionArea>
            </Group>
          </Group>
        </Paper>
      ))}
    </div>
  );
}

/** Countdown, which screen readers do not read each second. */
export function SecondsLeft({ dueAt }: { readonly dueAt: number }) {
  const left = Math.max(0, Math.ceil((dueAt - useNow()) / 1000));
  return <span aria-hidden>in {left} s</span>;
}
