import { Alert, Code, Grid, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { CallSummary, Schedule } from '#contracts';
import { escapeInvisible } from '#subject';
import { CallLink, CopyableId } from '../call/call-facts.js';
import { rowOfSummary, shownState } from '../calls/call-row.js';
import { Fact, Facts } from '../components/facts.js';
import { SubjectView } from '../subject/subject-view.js';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import stacked from '../components/stacked.module.css';
import { StateBadge } from '../components/state-badge.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { Ago, Duration } from '../components/time.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { momentText } from '../components/duration.js';
import { useToolyard } from '../stream/toolyard.js';
import { DueTimes } from './due-times.js';
import { ScheduleActions } from './schedule-actions.js';
import { LastRun, nameOf, runsOf, ScheduleState } from './schedule-parts.js';
import { timingText } from './timing-text.js';
import { useSchedules } from './use-schedules.js';

const route = getRouteApi('/schedules/$scheduleId');
const ASK_MS = 3000;
const SHOWN_RUNS = 20;

/** Page of a schedule: its next due times, its runs and its call. */
export function SchedulePage() {
  const { scheduleId } = route.useParams();
  const schedules = useSchedules();
  if (schedules.isPending) return <LoadingRows />;
  if (schedules.isError) return <ErrorState error={schedules.error} onRetry={() => void schedules.refetch()} />;
  const schedule = schedules.data.find(({ id }) => id === scheduleId);
  return schedule === undefined ? <NoSchedule /> : <OneSchedule schedule={schedule} />;
}

function NoSchedule() {
  return (
    <EmptyState
      whole
      title="There is no such schedule"
      action={
        <LinkButton to="/schedules" variant="default" size="xs" mt="xs">
          All schedules
        </LinkButton>
      }
    >
      It may have been removed. Calls that it made are still in the list of calls.
    </EmptyState>
  );
}

const OVERLAP = {
  skip: 'leaves a run out while the call before has not ended',
  queue: 'waits for the end of the call before',
  cancel: 'cancels the call before',
} as const;
const MISSED = { run: 'catches up with one run', skip: 'waits for the next due time' } as const;

function OneSchedule({ schedule }: { readonly schedule: Schedule }) {
  const { call, paused, lastRun } = schedule;
  return (
    <>
      <PageHead
        tab={`Schedule ${nameOf(schedule)}`}
        title={
          <Group gap="sm">
            <span>{nameOf(schedule)}</span>
            <ScheduleState schedule={schedule} />
          </Group>
        }
        about={<CopyableId id={schedule.id} />}
      >
        <ScheduleActions schedule={schedule} whole />
      </PageHead>
      {paused !== undefined && (
        <Alert color="orange" title="It does not run now" mb="md">
          {escapeInvisible(paused.reason)}, <Ago at={Date.parse(paused.at)} />.
        </Alert>
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <Runs schedule={schedule} />
            <div>
              <Title order={2} mb="xs">
                What it calls
              </Title>
              <SubjectView call={call} />
            </div>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="md">
            <DueTimes times={schedule.nextRuns} timeZone={schedule.timeZone} none={paused ? 'None while it is paused.' : 'It is over.'} />
            <Paper withBorder p="sm" component="section" aria-label="Facts">
              <Facts>
                <Fact name="When">
                  {timingText(schedule)}
                  {schedule.cron !== undefined && (
                    <>
                      {' '}
                      <Code>{schedule.cron}</Code> {schedule.timeZone}
                    </>
                  )}
                </Fact>
                <Fact name="Tool">
                  <LinkAnchor size="sm" to="/tools/$tool" params={{ tool: call.tool }}>
                    {call.tool}
                  </LinkAnchor>
                </Fact>
                <Fact name="Session">
                  {call.sessionId !== undefined && (
                    <LinkAnchor size="sm" to="/sessions/$sessionId" params={{ sessionId: call.sessionId }}>
                      {call.sessionId}
                    </LinkAnchor>
                  )}
                </Fact>
                <Fact name="Overlap">It {OVERLAP[schedule.overlap]}.</Fact>
                <Fact name="Missed runs">It {MISSED[schedule.missed]}.</Fact>
                <Fact name="Last due">{lastRun !== undefined && <LastRun run={lastRun} />}</Fact>
                <Fact name="Key">{schedule.keyId}</Fact>
                <Fact name="Made">{momentText(Date.parse(schedule.createdAt))}</Fact>
              </Facts>
            </Paper>
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

/** The calls that the schedule made, newest first. */
function Runs({ schedule }: { readonly schedule: Schedule }) {
  const { client } = useToolyard();
  const list = useRowKeys<HTMLDivElement>();
  const runs = useQuery({
    queryKey: ['schedule-runs', schedule.id, schedule.lastRun?.at],
    queryFn: ({ signal }) => client.calls.list({ ...runsOf(schedule), limit: SHOWN_RUNS }, { signal }),
    refetchInterval: ASK_MS,
    placeholderData: (before) => before,
  });
  const calls = runs.data?.calls ?? [];
  return (
    <section aria-label="Runs">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Runs</Title>
        <LinkAnchor size="sm" to="/calls" search={runsOf(schedule)}>
          All its calls
        </LinkAnchor>
      </Group>
      {runs.isPending && <LoadingRows rows={3} />}
      {runs.isError && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isSuccess && calls.length === 0 && (
        <Text size="sm" c="dimmed">
          It has made no call yet.
        </Text>
      )}
      {calls.length > 0 && (
        <Table.ScrollContainer minWidth={480} className={stacked['stacked']} ref={list}>
          <Table verticalSpacing="xs" highlightOnHover aria-label="Calls of the schedule">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Call</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Submitted</Table.Th>
                <Table.Th ta="right">Run time</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {calls.map((call) => (
                <RunRow key={call.id} call={call} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  );
}

function RunRow({ call }: { readonly call: CallSummary }) {
  const row = rowOfSummary(call);
  return (
    <Table.Tr data-row data-call={call.id}>
      <Table.Td>
        <CallLink id={call.id} />
      </Table.Td>
      <Table.Td>
        <StateBadge state={shownState(row)} note={row.note} />
      </Table.Td>
      <Table.Td data-label="Submitted">
        <Ago at={row.submittedAt} />
      </Table.Td>
      <Table.Td ta="right" data-label="Run time">
        <Duration ms={row.runMs} />
      </Table.Td>
    </Table.Tr>
  );
}
