import { Table, Text } from '@mantine/core';
import { IconCalendarPlus, IconCalendarTime } from '@tabler/icons-react';
import type { Schedule } from '#contracts';
import { LinkAnchor, LinkButton } from '../components/links.js';
import { PageHead } from '../components/page-head.js';
import { QueryTable } from '../components/query-table.js';
import { EmptyState } from '../components/states.js';
import { ScheduleActions } from './schedule-actions.js';
import { LastRun, nameOf, ScheduledSubject, ScheduleState, Until } from './schedule-parts.js';
import { timingText } from './timing-text.js';
import { useSchedules } from './use-schedules.js';

/** Calls that are submitted at due times. */
export function SchedulesPage() {
  const schedules = useSchedules();
  const shown = schedules.data ?? [];
  return (
    <>
      <PageHead title="Schedules" about="Calls that are submitted at due times, with the rights of the key that made the schedule.">
        <LinkButton to="/schedules/new" size="xs" leftSection={<IconCalendarPlus size={15} aria-hidden />}>
          New schedule
        </LinkButton>
      </PageHead>
      <QueryTable
        query={schedules}
        label="Schedules"
        minWidth={860}
        head={
          <>
            <Table.Th>Schedule</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>When</Table.Th>
            <Table.Th>Next</Table.Th>
            <Table.Th>Last run</Table.Th>
            <Table.Th ta="right">Actions</Table.Th>
          </>
        }
        empty={
          <EmptyState icon={IconCalendarTime} title="No schedules">
            A schedule submits the same call again and again, or once later. Make one here, or with{' '}
            <code>toolyard schedules add echo text=hello --every 1h</code>.
          </EmptyState>
        }
      >
        {shown.map((schedule) => (
          <Row key={schedule.id} schedule={schedule} />
        ))}
      </QueryTable>
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
