import { Table, Text } from '@mantine/core';
import { IconCalendarPlus, IconCalendarTime } from '@tabler/icons-react';
import type { Schedule } from '#contracts';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import stacked from '../components/stacked.module.css';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { ScheduleActions } from './schedule-actions.js';
import { LastRun, nameOf, ScheduledSubject, ScheduleState, Until } from './schedule-parts.js';
import { timingText } from './timing-text.js';
import { useSchedules } from './use-schedules.js';

/** Calls that are submitted at due times. */
export function SchedulesPage() {
  const schedules = useSchedules();
  const list = useRowKeys<HTMLDivElement>();
  const shown = schedules.data ?? [];
  return (
    <>
      <PageHead title="Schedules" about="Calls that are submitted at due times, with the rights of the key that made the schedule.">
        <LinkButton to="/schedules/new" size="xs" leftSection={<IconCalendarPlus size={15} aria-hidden />}>
          New schedule
        </LinkButton>
      </PageHead>
      {schedules.isPending && <LoadingRows />}
      {schedules.isError && <ErrorState error={schedules.error} onRetry={() => void schedules.refetch()} />}
      {schedules.isSuccess && shown.length === 0 && (
        <EmptyState icon={IconCalendarTime} title="No schedules">
          A schedule submits the same call again and again, or once later. Make one here, or with{' '}
          <code>toolyard schedules add echo text=hello --every 1h</code>.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <Table.ScrollContainer minWidth={860} className={stacked['stacked']} ref={list}>
          <Table verticalSpacing="xs" highlightOnHover aria-label="Schedules">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Schedule</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>When</Table.Th>
                <Table.Th>Next</Table.Th>
                <Table.Th>Last run</Table.Th>
                <Table.Th ta="right">Actions</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((schedule) => (
                <Row key={schedule.id} schedule={schedule} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </>
  );
}

function Row({ schedule }: { readonly schedule: Schedule }) {
  const [next] = schedule.nextRuns;
  return (
    <Table.Tr data-row data-schedule={schedule.id}>
      <Table.Td maw={320} data-line>
        <LinkAnchor fw={550} size="sm" to="/schedules/$scheduleId" params={{ scheduleId: schedule.id }}>
          {nameOf(schedule)}
        </LinkAnchor>
        <ScheduledSubject call={schedule.call} />
      </Table.Td>
      <Table.Td>
        <ScheduleState schedule={schedule} />
      </Table.Td>
      <Table.Td data-label="When">
        {timingText(schedule)}
        {schedule.cron !== undefined && (
          <Text size="xs" c="dimmed">
            <code>{schedule.cron}</code> {schedule.timeZone}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label="Next">{next === undefined ? '–' : <Until at={next} />}</Table.Td>
      <Table.Td data-label="Last run">
        <LastRun run={schedule.lastRun} />
      </Table.Td>
      <Table.Td data-line>
        <ScheduleActions schedule={schedule} />
      </Table.Td>
    </Table.Tr>
  );
}
