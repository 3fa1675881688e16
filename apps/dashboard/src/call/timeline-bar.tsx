import { Group, Paper, Text, Tooltip } from '@mantine/core';
import { durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';
import type { Segment, SegmentKind } from './call-timeline.js';
import classes from './timeline-bar.module.css';

const KIND_WORDS: Readonly<Record<SegmentKind, string>> = {
  approval: 'waiting for a person',
  queued: 'queued',
  backoff: 'pause',
  suspended: 'suspended',
  running: 'running',
};

/** The times of a call as one bar. */
export function TimelineBar({ segments }: { readonly segments: readonly Segment[] }) {
  const now = useNow();
  const first = segments[0]?.from;
  if (first === undefined) return null;
  const last = Math.max(first + 1, ...segments.map(({ to }) => to ?? now));
  const share = (ms: number) => (100 * ms) / (last - first);
  const sums = sumsOf(segments, now);
  return (
    <Paper withBorder p="sm">
      <div className={classes.bar} role="img" aria-label={sums.map(([kind, ms]) => `${KIND_WORDS[kind]} ${durationText(ms)}`).join(', ')}>
        {segments.map((segment, index) => {
          const length = (segment.to ?? now) - segment.from;
          return (
            <Tooltip key={index} label={`${segment.name}: ${durationText(length)}`}>
              <div
                className={classes.segment}
                data-kind={segment.kind}
                data-open={segment.to === undefined || undefined}
                style={{ left: `${share(segment.from - first)}%`, width: `${share(length)}%` }}
              />
            </Tooltip>
          );
        })}
      </div>
      <Group gap="md" mt={8}>
        {sums.map(([kind, ms]) => (
          <Text key={kind} size="xs" className={classes.key}>
            <span className={classes.swatch} data-kind={kind} aria-hidden />
            {KIND_WORDS[kind]} <strong>{durationText(ms)}</strong>
          </Text>
        ))}
        <Text size="xs" c="dimmed">
          in all {durationText(last - first)}
        </Text>
      </Group>
    </Paper>
  );
}

function sumsOf(segments: readonly Segment[], now: number): [SegmentKind, number][] {
  const sums = new Map<SegmentKind, number>();
  for (const { kind, from, to } of segments) sums.set(kind, (sums.get(kind) ?? 0) + (to ?? now) - from);
  return [...sums];
}
