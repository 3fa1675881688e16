import { Group, Paper, Text } from '@mantine/core';
import type { FailurePage } from '#contracts';
import { countText } from '../components/count-text.js';
import { momentText } from '../components/duration.js';
import { LinkAnchor } from '../components/links.js';
import { Sparkline } from '../components/sparkline.js';
import { failureSums, type FailureSearch } from './failure-search.js';

interface FailureSummaryProps {
  readonly page: FailurePage;
  readonly windowMs: number;
  readonly search: FailureSearch;
}

/** All failures of a period: their number, when they were, and how many kinds are new. */
export function FailureSummary({ page: { since, until, failures }, windowMs, search }: FailureSummaryProps) {
  const { calls, fresh, counts } = failureSums(failures, windowMs);
  const from = Date.parse(since);
  const step = (Date.parse(until) - from) / counts.length;
  const at = (part: number) => from + part * step;
  return (
    <Paper withBorder p="sm" mb="md" component="section" aria-label="All failures">
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm">
          <strong>{countText(calls, 'call')}</strong> failed in <strong>{countText(failures.length, 'way')}</strong>
          {fresh > 0 && ', '}
          {fresh > 0 && (
            <LinkAnchor size="sm" underline="always" to="/failures" search={{ ...search, sort: 'new' }} replace>
              {fresh.toLocaleString()} new or back
            </LinkAnchor>
          )}
        </Text>
        <Text size="xs" c="dimmed">
          {Math.max(...counts).toLocaleString()} at most in {stepText(step)}
        </Text>
      </Group>
      <Sparkline
        counts={counts}
        label={`All failures, in ${counts.length} parts of the period`}
        titles={counts.map((count, part) => `${momentText(at(part))}: ${countText(count, 'call')}`)}
        isWide
      />
      <Group justify="space-between" mt={2} aria-hidden>
        {MARKS.map((share) => (
          <Text key={share} size="xs" c="dimmed">
            {markText(at(share * counts.length), windowMs)}
          </Text>
        ))}
      </Group>
    </Paper>
  );
}

/** Places of the labels below the bars, as shares of the period. */
const MARKS = [0, 0.25, 0.5, 0.75, 1];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Day or time of day; a whole hour where a bar is about an hour. */
function markText(at: number, windowMs: number): string {
  const date = new Date(windowMs < DAY_MS ? at : Math.round(at / HOUR_MS) * HOUR_MS);
  return windowMs > DAY_MS
    ? date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })
    : date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
}

/** `150 s`, `1 h`, `30 h`. */
function stepText(ms: number): string {
  if (ms < 600_000) return `${Math.round(ms / 1000)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
