import { Stack, Text } from '@mantine/core';
import type { JsonValue } from '#contracts';
import { DiffView } from '../components/diff-view.js';
import { VisibleText } from '../components/visible-text.js';
import { changedArguments } from './changed-arguments.js';

interface ArgumentChangesProps {
  /** Arguments requested by the agent. */
  readonly asked: Readonly<Record<string, JsonValue>>;
  readonly edited: Readonly<Record<string, JsonValue>>;
}

/** Changes by edited arguments, one difference for each argument. */
export function ArgumentChanges({ asked, edited }: ArgumentChangesProps) {
  const changes = changedArguments(asked, edited);
  return (
    <Stack gap="xs" component="section" aria-label="Your changes">
      <Text size="sm" fw={600}>
        Your changes
      </Text>
      {changes.length === 0 && (
        <Text size="sm" c="dimmed">
          None: this is what was asked for.
        </Text>
      )}
      {changes.map(({ name, before, after }) => (
        <div key={name}>
          <Text size="xs" c="dimmed">
            <VisibleText text={name} />
          </Text>
          <DiffView before={before} after={after} label={`Change of ${name}`} />
        </div>
      ))}
    </Stack>
  );
}
