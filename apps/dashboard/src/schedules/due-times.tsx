import { List, Paper, Text, Title } from '@mantine/core';
import { Until } from './schedule-parts.js';
import { dueText } from './timing-text.js';

interface DueTimesProps {
  readonly times: readonly string[];
  readonly timeZone: string;
  /** Said where there are no times. */
  readonly none: string;
}

/** The next due times, by the clocks of the schedule's time zone. */
export function DueTimes({ times, timeZone, none }: DueTimesProps) {
  return (
    <Paper withBorder p="sm" component="section" aria-label="Next due times">
      <Title order={2} mb="xs">
        Next due times
      </Title>
      {times.length === 0 && (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      )}
      {times.length > 0 && (
        <>
          <List size="sm" type="ordered">
            {times.map((at) => (
              <List.Item key={at}>
                <time dateTime={at}>{dueText(at, timeZone)}</time>{' '}
                <Text span size="xs" c="dimmed">
                  <Until at={at} />
                </Text>
              </List.Item>
            ))}
          </List>
          <Text size="xs" c="dimmed" mt={4}>
            By the clocks of {timeZone}.
          </Text>
        </>
      )}
    </Paper>
  );
}
