import { Button, CloseButton, Group, MultiSelect, Pill, Popover, SimpleGrid, TextInput, VisuallyHidden } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { IconAdjustments, IconSearch } from '@tabler/icons-react';
import { useEffect, useState, type ReactNode } from 'react';
import { CALL_ERROR_CODES, Priority } from '#contracts';
import { resultLabel, stateLabel } from './call-labels.js';
import { FILTER_NAMES, listOf, type CallSearch } from './call-search.js';
import { FacetFilters } from './facet-filters.js';
import { TimeFilter } from './time-filter.js';

interface CallFiltersProps {
  readonly search: CallSearch;
  readonly onChange: (search: CallSearch) => void;
  /** More controls of the list. */
  readonly children: ReactNode;
}

type FilterName = (typeof FILTER_NAMES)[number];

const NAMES: Readonly<Record<FilterName, string>> = {
  q: 'Text',
  status: 'Status',
  outcome: 'Outcome',
  result: 'Result',
  tool: 'Tool',
  agentId: 'Agent',
  sessionId: 'Session',
  pool: 'Pool',
  risk: 'Risk',
  priority: 'Priority',
  errorCode: 'Error',
  fingerprint: 'Failure group',
  batchId: 'Batch',
  parentCallId: 'Child of',
  scheduleId: 'Schedule',
  rootCallId: 'Below',
  since: 'Since',
  until: 'Until',
};

/** Filters of the list, stored in the address, so that a filtered list is a link. */
export function CallFilters({ search, onChange, children }: CallFiltersProps) {
  const set = (name: keyof CallSearch, value: string | undefined) => {
    const { [name]: _before, ...others } = search;
    onChange(value === undefined || value === '' ? others : { ...others, [name]: value });
  };
  const narrow = useMediaQuery('(max-width: 48em)') ?? false;
  const main = (
    <>
      <FacetFilters search={search} set={set} part="main" />
      <TimeFilter
        search={search}
        onChange={(times) => {
          const { since: _since, until: _until, ...others } = search;
          onChange({ ...others, ...times });
        }}
      />
    </>
  );
  return (
    <search aria-label="Filter calls">
      <Group gap={6} mb="xs" wrap={narrow ? 'nowrap' : 'wrap'} align="center">
        <SearchText text={search.q ?? ''} onChange={(text) => set('q', text)} />
        {!narrow && main}
        <Popover width={320} position="bottom-end" shadow="md" withinPortal>
          <Popover.Target>
            <Button variant="default" size="xs" leftSection={<IconAdjustments size={14} aria-hidden />}>
              {narrow ? 'Filter' : 'More'}
            </Button>
          </Popover.Target>
          <Popover.Dropdown mah="70dvh" style={{ overflow: 'auto' }}>
            {narrow && (
              <Group gap={6} mb="sm">
                {main}
              </Group>
            )}
            <Group gap={6} mb="sm">
              <FacetFilters search={search} set={set} part="more" />
            </Group>
            <SimpleGrid cols={narrow ? 1 : 2} spacing="xs">
              <MoreFilters search={search} set={set} />
            </SimpleGrid>
          </Popover.Dropdown>
        </Popover>
        {!narrow && children}
      </Group>
      <Active search={search} set={set} onClear={() => onChange({})} />
    </search>
  );
}

interface PartProps {
  readonly search: CallSearch;
  readonly set: (name: keyof CallSearch, value: string | undefined) => void;
}

function MoreFilters({ search, set }: PartProps) {
  const text = (name: FilterName, placeholder: string) => (
    <Settled key={name} label={NAMES[name]} placeholder={placeholder} value={search[name] ?? ''} onSettled={(value) => set(name, value)} />
  );
  return (
    <>
      <Several name="priority" values={Priority.options} search={search} set={set} />
      <Several name="errorCode" values={CALL_ERROR_CODES} search={search} set={set} searchable />
      {text('batchId', 'id of a batch')}
      {text('parentCallId', 'id of a call')}
      {text('scheduleId', 'id of a schedule')}
      {text('rootCallId', 'id of a call')}
    </>
  );
}

interface SeveralProps extends PartProps {
  readonly name: FilterName;
  readonly values: readonly string[];
  readonly searchable?: boolean;
}

function Several({ name, values, search, set, searchable = false }: SeveralProps) {
  const chosen = listOf(search[name]);
  return (
    <MultiSelect
      label={NAMES[name]}
      placeholder={chosen.length === 0 ? 'Any' : ''}
      data={[...new Set([...values, ...chosen])]}
      value={chosen}
      onChange={(next) => set(name, next.join(','))}
      searchable={searchable}
      hidePickedOptions
      comboboxProps={{ width: 220, position: 'bottom-start' }}
    />
  );
}

const SETTLED_MS = 300;

function SearchText({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const settle = useDebouncedCallback(onChange, SETTLED_MS);
  useEffect(() => setTyped(text), [text]);
  return (
    <TextInput
      size="xs"
      aria-label="Search calls"
      placeholder="Words, ids, errors …"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        settle(value.trim());
      }}
      rightSection={typed === '' ? undefined : <CloseButton size="sm" aria-label="Clear the text" onClick={() => onChange('')} />}
      style={{ flex: '1 1 120px' }}
    />
  );
}

/** A text field that applies its value on Enter and on blur. */
function Settled({
  label,
  placeholder,
  value,
  onSettled,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onSettled: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const settle = () => {
    if (typed.trim() !== value) onSettled(typed.trim());
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={settle}
      onKeyDown={({ key }) => {
        if (key === 'Enter') settle();
      }}
    />
  );
}

function Active({ search, set, onClear }: PartProps & { readonly onClear: () => void }) {
  const active = FILTER_NAMES.filter((name) => search[name] !== undefined);
  if (active.length === 0) return null;
  return (
    <Group gap={6} mb="xs" aria-label="Filters in use" role="group">
      {active.map((name) => (
        <Pill
          key={name}
          withRemoveButton
          removeButtonProps={{ 'aria-label': `Remove the filter ${NAMES[name]}`, 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => set(name, undefined)}
        >
          {NAMES[name]}: {valueText(name, search[name])}
        </Pill>
      ))}
      <Button variant="subtle" size="compact-xs" onClick={onClear}>
        Clear all <VisuallyHidden>filters</VisuallyHidden>
      </Button>
    </Group>
  );
}

function valueText(name: FilterName, value: string | undefined): string {
  const labelOf = name === 'status' || name === 'outcome' ? stateLabel : name === 'result' ? resultLabel : (text: string) => text;
  return listOf(value).map(labelOf).join(', ');
}
