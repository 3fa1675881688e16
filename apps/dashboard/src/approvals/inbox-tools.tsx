import { Group, SegmentedControl, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { GROUPINGS, type Grouping } from './inbox-order.js';

export interface InboxSearch {
  readonly group?: Grouping | undefined;
  readonly q?: string | undefined;
}

interface InboxToolsProps {
  readonly search: InboxSearch;
  readonly onChange: (search: InboxSearch) => void;
}

/** The filter and the groups of the inbox, as the address has them. */
export function InboxTools({ search: { group, q }, onChange }: InboxToolsProps) {
  const others = q === undefined ? {} : { q };
  return (
    <Group gap="xs" mb="sm">
      <TextInput
        size="xs"
        aria-label="Filter"
        placeholder="Filter by tool, agent, session, words"
        leftSection={<IconFilter size={14} aria-hidden />}
        w={260}
        value={q ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ ...(group && { group }), ...(value === '' ? {} : { q: value }) })}
      />
      <SegmentedControl
        size="xs"
        aria-label="Group by"
        value={group ?? 'none'}
        onChange={(value) => {
          const chosen = GROUPINGS.find((each) => each === value);
          onChange({ ...others, ...(chosen && { group: chosen }) });
        }}
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
