import { Button, Group, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { Fragment, useState } from 'react';
import type { CallEvent } from '#contracts';
import { actorText } from '#subject';
import { clockText } from '../components/duration.js';
import { Json } from '../components/json.js';
import { countText } from '../components/count-text.js';

const SHOWN = 200;

/** The raw events of a call, with a download. */
export function EventsView({ events, dropped }: { readonly events: readonly CallEvent[]; readonly dropped: number }) {
  const [open, setOpen] = useState<string>();
  const [all, setAll] = useState(false);
  const shown = all ? events : events.slice(-SHOWN);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {countText(events.length, 'event')}
          {dropped > 0 ? `, and ${countText(dropped, 'update')} no longer kept here` : ''}
        </Text>
        <Button size="compact-xs" variant="default" onClick={() => save(events)}>
          Download as JSON
        </Button>
      </Group>
      {shown.length < events.length && (
        <Button size="compact-xs" variant="subtle" onClick={() => setAll(true)}>
          Show the {(events.length - shown.length).toLocaleString()} earlier ones
        </Button>
      )}
      <Table verticalSpacing={4} aria-label="Raw events">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={60}>No.</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th>Time</Table.Th>
            <Table.Th visibleFrom="sm">Actor</Table.Th>
            <Table.Th visibleFrom="sm">Id</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((event) => (
            <Fragment key={event.id}>
              <Table.Tr>
                <Table.Td>{event.callver}</Table.Td>
                <Table.Td>
                  <UnstyledButton
                    fz="sm"
                    fw={550}
                    aria-expanded={open === event.id}
                    onClick={() => setOpen(open === event.id ? undefined : event.id)}
                  >
                    {event.type}
                  </UnstyledButton>
                </Table.Td>
                <Table.Td>{clockText(Date.parse(event.time))}</Table.Td>
                <Table.Td visibleFrom="sm">{actorText(event.actor, event.actorname)}</Table.Td>
                <Table.Td visibleFrom="sm">
                  <code>{event.id}</code>
                </Table.Td>
              </Table.Tr>
              {open === event.id && (
                <Table.Tr>
                  <Table.Td colSpan={5}>
                    <Json value={event} label={`Event ${event.callver}`} />
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

function save(events: readonly CallEvent[]): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(events, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${events[0]?.subject ?? 'call'}-events.json`;
  link.click();
  URL.revokeObjectURL(url);
}
