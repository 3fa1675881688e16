import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { GROUPINGS, type Grouping } from './inbox-order.js';

export interface InboxSearch {
  readonly group?: Grouping | undefined;
  /** Absent: oldest first. */
  readonly sort?: 'risk' | undefined;
  readonly q?: string | undefined;
}

interface InboxToolsProps {
  readonly search: InboxSearch;
  readonly onChange: (search: InboxSearch) => void;
}

/** The filter, the order and the groups of the inbox, as the address has them. */
export function InboxTools({ search: { group, sort, q }, onChange }: InboxToolsProps) {
  const has = { ...(group && { group }), ...(sort && { sort }), ...(q !== undefined && { q }) };
  return (
    <Group gap="xs" mb="sm">
      <TextInput
        size="xs"
        aria-label="Filter"
        placeholder="Filter by tool, agent, session, words"
        leftSection={<IconFilter size={14} aria-hidden />}
        w={260}
        value={q ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ ...has, q: value === '' ? undefined : value })}
      />
      <SegmentedControl
        size="xs"
        aria-label="Order"
        value={sort ?? 'oldest'}
        onChange={(value) => onChange({ ...has, sort: value === 'risk' ? 'risk' : undefined })}
        data={[
          { value: 'oldest', label: 'Oldest first' },
          { value: 'risk', label: 'Highest risk first' },
        ]}
      />
      <SegmentedControl
        size="xs"
        aria-label="Group by"
        value={group ?? 'none'}
        onChange={(value) => onChange({ ...has, group: GROUPINGS.find((each) => each === value) })}
        data={[
          { value: 'none', label: 'One list' },
          { value: 'agent', label: 'By agent' },
          { value: 'session', label: 'By session' },
          { value: 'tool', label: 'By tool' },
        ]}
      />
    </Group>
  );
}
