import { Text } from '@mantine/core';
import type { SessionSummary } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { useSubjects } from '../components/use-subjects.js';

/** Newest call of a session, in one line. */
export function LastCall({ call }: { readonly call: NonNullable<SessionSummary['lastCall']> }) {
  const subject = escapeInvisible(subjectText(call.preview, useSubjects(call.tool)));
  return (
    <Text size="xs" ff="monospace" truncate title={`${call.tool}: ${subject}`}>
      {!subject.startsWith('$ ') && (
        <Text span inherit c="dimmed">
          {escapeInvisible(call.tool)}{' '}
        </Text>
      )}
      {subject}
    </Text>
  );
}
