import { Button, List, Paper, Text } from '@mantine/core';
import { useState } from 'react';
import type { Call } from '#contracts';
import { escapeInvisible, MOST_REASONS, plainReasons } from '#subject';
import { Unbroken } from '../components/unbroken.js';
import { DecisionView } from './decision-view.js';

/** Reasons why a person is asked: the first ones, and the answers of all rules on request. */
export function Reasons({ call }: { readonly call: Call }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <Paper withBorder p="sm">
      <Text size="sm" fw={600}>
        Why a person is asked
      </Text>
      <List size="sm">
        {plainReasons(call)
          .slice(0, MOST_REASONS)
          .map((each) => (
            <List.Item key={each}>
              <Unbroken text={escapeInvisible(each)} />
            </List.Item>
          ))}
      </List>
      <Button size="compact-xs" variant="default" mt="xs" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        All rules
      </Button>
      {isWhole && <DecisionView decision={call.decision} />}
    </Paper>
  );
}
