import { Paper, Text, Timeline, Title } from '@mantine/core';
import { escapeInvisible } from '#subject';
import { clockText, durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';
import type { TimelineEntry, Tone } from './call-timeline.js';

const COLORS: Readonly<Record<Tone, string>> = { neutral: 'gray', good: 'teal', bad: 'red', warn: 'orange', busy: 'blue' };

/** The entries of the timeline with the times between them. */
export function TimelineList({ moments }: { readonly moments: readonly TimelineEntry[] }) {
  const now = useNow();
  return (
    <Paper withBorder p="sm" component="section" aria-label="Timeline">
      <Title order={2} mb="sm">
        Timeline
      </Title>
      <Timeline bulletSize={14} lineWidth={2} active={moments.length}>
        {moments.map(({ at, title, detail, tone, gaps }, index) => (
          <Timeline.Item
            key={index}
            color={COLORS[tone]}
            title={
              <Text size="sm" fw={550}>
                {escapeInvisible(title)}
              </Text>
            }
            lineVariant={gaps.length > 0 ? 'dashed' : 'solid'}
          >
            <Text size="xs" c="dimmed">
              {clockText(at)}.{String(at % 1000).padStart(3, '0')}
            </Text>
            {detail !== undefined && (
              <Text size="xs" style={{ overflowWrap: 'anywhere' }} lineClamp={6}>
                {escapeInvisible(detail)}
              </Text>
            )}
            {gaps.map((gap) => (
              <Text key={gap.from} size="xs" c="dimmed" fs="italic" mt={4}>
                {gap.name}: {durationText((gap.to ?? now) - gap.from)}
                {gap.to === undefined ? ' so far' : ''}
              </Text>
            ))}
          </Timeline.Item>
        ))}
      </Timeline>
    </Paper>
  );
}
