import { Badge, Button, Checkbox, Group, Popover, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';
import { escapeInvisible } from '#subject';

export interface FacetChoice {
  readonly value: string;
  readonly label?: string;
  /** Calls that have the value. Absent while unknown. */
  readonly count?: number | undefined;
}

interface FacetMenuProps {
  readonly name: string;
  readonly choices: readonly FacetChoice[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Number of values from which a list has a search field. */
const LONG = 8;

/** The values of a filter with the number of calls of each; any of the chosen fits. */
export function FacetMenu({ name, choices, chosen, onChange }: FacetMenuProps) {
  const [text, setText] = useState('');
  const known = new Set(choices.map(({ value }) => value));
  const all = [...choices, ...chosen.filter((value) => !known.has(value)).map((value): FacetChoice => ({ value }))];
  const shown = all.filter(({ value, label = value }) => label.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Popover width={260} position="bottom-start" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant={chosen.length === 0 ? 'default' : 'light'}
          size="xs"
          rightSection={<IconChevronDown size={13} aria-hidden />}
          data-facet={name}
        >
          {name}
          {chosen.length > 0 && (
            <Badge size="xs" ml={6} circle variant="filled">
              {chosen.length}
            </Badge>
          )}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={`Filter by ${name.toLowerCase()}`}>
        {all.length > LONG && (
          <TextInput
            size="xs"
            mb="xs"
            aria-label={`Search in ${name.toLowerCase()}`}
            placeholder="Search"
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
        <ScrollArea.Autosize mah={300} type="auto">
          <Stack gap={10}>
            {shown.map(({ value, label = value, count }) => (
              <Group key={value} justify="space-between" wrap="nowrap" gap="xs">
                <Checkbox
                  size="xs"
                  label={escapeInvisible(label)}
                  checked={chosen.includes(value)}
                  onChange={({ currentTarget: { checked } }) =>
                    onChange(checked ? [...chosen, value] : chosen.filter((each) => each !== value))
                  }
                  styles={{ label: { overflowWrap: 'anywhere' } }}
                />
                <Text size="xs" c="dimmed" data-count={value}>
                  {count?.toLocaleString()}
                </Text>
              </Group>
            ))}
            {shown.length === 0 && (
              <Text size="xs" c="dimmed">
                No call has one.
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}
