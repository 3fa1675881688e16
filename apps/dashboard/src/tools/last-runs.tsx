import { Paper, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CallSummary } from '#contracts';
import { rowOfSummary, shownState } from '../calls/call-row.js';
import { durationText } from '../components/duration.js';
import { Sparkline } from '../components/sparkline.js';
import { useToolyard } from '../stream/toolyard.js';

const SHOWN = 50;

/** Run times of the last calls of a tool, oldest first; failed ones are red. */
export function LastRuns({ tool }: { readonly tool: string }) {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['last-runs', tool],
    queryFn: ({ signal }) => client.calls.list({ tool, status: 'ended', limit: SHOWN }, { signal }),
  });
  const runs = data?.calls.toReversed() ?? [];
  if (runs.length === 0) return null;
  const longest = Math.max(...runs.map(runOf));
  const failed = runs.filter(hasFailed).length;
  const label = `The last ${runs.length} calls: ${failed} failed; the longest ran ${durationText(longest)}`;
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Last calls
      </Title>
      <Sparkline counts={runs.map(runOf)} marked={runs.map(hasFailed)} label={label} isWide />
      <Text size="sm" c="dimmed" mt={4}>
        {label}.
      </Text>
    </Paper>
  );
}

function runOf(call: CallSummary): number {
  return rowOfSummary(call).runMs ?? 0;
}

function hasFailed(call: CallSummary): boolean {
  return ['error', 'failed', 'timed_out', 'unknown'].includes(shownState(rowOfSummary(call)));
}
