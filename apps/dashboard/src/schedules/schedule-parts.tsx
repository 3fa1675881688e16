import { Badge, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Schedule, ScheduleRun } from '#contracts';
import { errorText, escapeInvisible, subjectText } from '#subject';
import { CallLink } from '../call/call-facts.js';
import { stateOfCall } from '../calls/call-row.js';
import { durationText, momentText } from '../components/duration.js';
import { StateBadge } from '../components/state-badge.js';
import { Ago, useNow } from '../components/time.js';
import { useSubjects } from '../components/use-subjects.js';
import { useToolyard } from '../stream/toolyard.js';

/** The filter of its calls. */
export const runsOf = (schedule: Pick<Schedule, 'id'>) => ({ scheduleId: schedule.id });

/** Runs, waits for its last due time, or is paused. */
export function ScheduleState({ schedule }: { readonly schedule: Schedule }) {
  const { paused, nextRuns } = schedule;
  if (paused !== undefined)
    return (
      <Tooltip label={paused.reason} multiline maw={320}>
        <Badge variant="dot" color="orange" tt="none" miw="max-content" tabIndex={0}>
          Paused
        </Badge>
      </Tooltip>
    );
  return (
    <Badge variant="dot" color={nextRuns.length === 0 ? 'gray' : 'teal'} tt="none" miw="max-content">
      {nextRuns.length === 0 ? 'Over' : 'Active'}
    </Badge>
  );
}

/** `in 5 m 3 s`, with the time on hover. */
export function Until({ at }: { readonly at: string }) {
  const left = Date.parse(at) - useNow();
  return (
    <Tooltip label={momentText(Date.parse(at))} openDelay={300}>
      <Text span inherit style={{ whiteSpace: 'nowrap' }}>
        {left < 1000 ? 'now' : `in ${left < 10_000 ? `${Math.round(left / 1000)} s` : durationText(left)}`}
      </Text>
    </Tooltip>
  );
}

const SKIPPED = {
  overlap: 'left out: the call before had not ended',
  missed: 'left out: no gateway ran at that time',
} as const;

/** Result of the last due time. */
export function LastRun({ run }: { readonly run: ScheduleRun | undefined }) {
  if (run === undefined) return <>–</>;
  const { at, callId, skipped, error } = run;
  return (
    <>
      {callId !== undefined && <StateOfCall id={callId} />} {callId !== undefined && <CallLink id={callId} />} <Ago at={Date.parse(at)} />
      {skipped !== undefined && (
        <Text size="xs" c="dimmed">
          {SKIPPED[skipped]}
        </Text>
      )}
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {escapeInvisible(errorText(error))}
        </Text>
      )}
    </>
  );
}

const ASK_MS = 3000;

function StateOfCall({ id }: { readonly id: string }) {
  const { client } = useToolyard();
  const { data } = useQuery({
    queryKey: ['call-state', id],
    queryFn: ({ signal }) => client.calls.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'ended' ? false : ASK_MS),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data === undefined ? null : <StateBadge size="xs" state={stateOfCall(data, false)} note={data.note} />;
}

/** Call of the schedule, in one line. */
export function ScheduledSubject({ call }: Pick<Schedule, 'call'>) {
  const subjects = useSubjects(call.tool);
  const subject = escapeInvisible(subjectText(JSON.stringify(call.arguments), subjects));
  return (
    <Text size="xs" c="dimmed" truncate title={subject}>
      {call.tool} <code>{subject}</code>
    </Text>
  );
}

export function nameOf({ name, call }: Pick<Schedule, 'name' | 'call'>): string {
  return escapeInvisible(name ?? call.tool);
}
