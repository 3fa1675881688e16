import { Alert, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Call } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';

/** The steps of a call as the processes took them, for keys with the scope `admin`. */
export function DebugView({ call, version }: { readonly call: Call; readonly version: number }) {
  const { client } = useToolyard();
  const { data, error } = useQuery({
    queryKey: ['call-debug', call.id, call.status, version],
    queryFn: ({ signal }) => client.calls.debugLog(call.id, { signal }),
    placeholderData: (before) => before,
    retry: false,
  });
  if (error !== null) return <Alert color="red.9">{error.message}</Alert>;
  if (data === undefined) return <Text c="dimmed">Loading</Text>;
  return (
    <Table verticalSpacing={4} aria-label="Debug log">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>After</Table.Th>
          <Table.Th>Step</Table.Th>
          <Table.Th>Took</Table.Th>
          <Table.Th>What</Table.Th>
          <Table.Th visibleFrom="sm">By</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.entries.map(({ afterMs, step, attempt, tookMs, text, by }, index) => (
          <Table.Tr key={index}>
            <Table.Td>{afterMs.toLocaleString()} ms</Table.Td>
            <Table.Td>{attempt === undefined ? step : `${step} ${attempt}`}</Table.Td>
            <Table.Td>{tookMs === undefined ? '' : `${tookMs.toLocaleString()} ms`}</Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{text}</Table.Td>
            <Table.Td visibleFrom="sm">{by}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
