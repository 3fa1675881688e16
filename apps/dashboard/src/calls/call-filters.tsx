import { Button, CloseButton, Group, MultiSelect, Pill, Popover, Select, SimpleGrid, TextInput, VisuallyHidden } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { IconAdjustments, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { z } from 'zod';
import { CALL_ERROR_CODES, CallOutcome, CallStatus, POOLS, Priority, ResultKind } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';
import { STATES } from '../components/theme.js';
import { FILTER_NAMES, listOf, spanMs, type CallSearch } from './call-search.js';

interface CallFiltersProps {
  readonly search: CallSearch;
  readonly onChange: (search: CallSearch) => void;
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

const SPANS = [
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
];

/** The filters of the list. They are kept in the address, so a filtered list is a link. */
export function CallFilters({ search, onChange }: CallFiltersProps) {
  const set = (name: FilterName, value: string | undefined) => {
    const { [name]: _before, ...others } = search;
    onChange(value === undefined || value === '' ? others : { ...others, [name]: value });
  };
  const narrow = useMediaQuery('(max-width: 48em)') ?? false;
  const selects = <MainSelects search={search} set={set} />;
  return (
    <search aria-label="Filter calls">
      <Group gap="xs" mb="xs" wrap={narrow ? 'nowrap' : 'wrap'} align="flex-start">
        <SearchText text={search.q ?? ''} onChange={(text) => set('q', text)} />
        {!narrow && selects}
        <Popover width={narrow ? 320 : 460} position="bottom-end" shadow="md" withinPortal>
          <Popover.Target>
            <Button variant="default" size="sm" leftSection={<IconAdjustments size={16} aria-hidden />}>
              {narrow ? 'Filter' : 'More'}
            </Button>
          </Popover.Target>
          <Popover.Dropdown mah="70dvh" style={{ overflow: 'auto' }}>
            <SimpleGrid cols={narrow ? 1 : 2} spacing="xs">
              {narrow && selects}
              <MoreFilters search={search} set={set} />
            </SimpleGrid>
          </Popover.Dropdown>
        </Popover>
      </Group>
      <Active search={search} set={set} onClear={() => onChange({})} />
    </search>
  );
}

interface PartProps {
  readonly search: CallSearch;
  readonly set: (name: FilterName, value: string | undefined) => void;
}

function MainSelects({ search, set }: PartProps) {
  const { client } = useToolyard();
  const { data: tools = [] } = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => client.tools.list({}, { signal }),
    staleTime: 60_000,
  });
  const toolNames = [...new Set([...tools.map(({ name }) => name), ...listOf(search.tool)])];
  return (
    <>
      <Several name="status" label="Status" values={CallStatus.options} search={search} set={set} labelOf={stateLabel} />
      <Several name="outcome" label="Outcome" values={CallOutcome.options} search={search} set={set} labelOf={stateLabel} />
      <Several name="result" label="Result" values={ResultKind.options} search={search} set={set} labelOf={resultLabel} />
      <Several name="tool" label="Tool" values={toolNames} search={search} set={set} searchable />
      <Select
        aria-label="Time"
        placeholder="Any time"
        data={
          search.since !== undefined && spanMs(search.since) === undefined
            ? [...SPANS, { value: search.since, label: `Since ${search.since}` }]
            : SPANS
        }
        value={search.since ?? null}
        onChange={(value) => set('since', value ?? undefined)}
        clearable
        w={{ base: '100%', sm: 128 }}
      />
    </>
  );
}

function MoreFilters({ search, set }: PartProps) {
  const text = (name: FilterName, placeholder: string) => (
    <Settled key={name} label={NAMES[name]} placeholder={placeholder} value={search[name] ?? ''} onSettled={(value) => set(name, value)} />
  );
  return (
    <>
      {text('agentId', 'agent-1')}
      {text('sessionId', 'session-1')}
      <Several name="pool" label="Pool" values={POOLS} search={search} set={set} labelled />
      <Several name="priority" label="Priority" values={Priority.options} search={search} set={set} labelled />
      <Several name="errorCode" label="Error" values={CALL_ERROR_CODES} search={search} set={set} labelled searchable />
      {text('batchId', 'id of a batch')}
      {text('parentCallId', 'id of a call')}
      {text('scheduleId', 'id of a schedule')}
      {text('rootCallId', 'id of a call')}
      {text('since', '2026-01-31T12:00:00Z or 15m')}
      {text('until', '2026-01-31T12:00:00Z')}
    </>
  );
}

interface SeveralProps extends PartProps {
  readonly name: FilterName;
  readonly label: string;
  readonly values: readonly string[];
  readonly labelOf?: (value: string) => string;
  readonly searchable?: boolean;
  readonly labelled?: boolean;
}

function Several({ name, label, values, search, set, labelOf = (value) => value, searchable = false, labelled = false }: SeveralProps) {
  const chosen = listOf(search[name]);
  return (
    <MultiSelect
      {...(labelled ? { label } : { 'aria-label': label })}
      placeholder={chosen.length === 0 ? (labelled ? 'Any' : `Any ${label.toLowerCase()}`) : ''}
      data={[...new Set([...values, ...chosen])].map((value) => ({ value, label: labelOf(value) }))}
      value={chosen}
      onChange={(next) => set(name, next.join(','))}
      searchable={searchable}
      hidePickedOptions
      w={labelled ? '100%' : { base: '100%', sm: chosen.length > 1 ? 200 : 136 }}
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
      aria-label="Search calls"
      placeholder="Words, ids, errors …"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        settle(value.trim());
      }}
      rightSection={typed === '' ? undefined : <CloseButton size="sm" aria-label="Clear the text" onClick={() => onChange('')} />}
      style={{ flex: '1 1 160px' }}
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
          {NAMES[name]}: {search[name]}
        </Pill>
      ))}
      <Button variant="subtle" size="compact-xs" onClick={onClear}>
        Clear all <VisuallyHidden>filters</VisuallyHidden>
      </Button>
    </Group>
  );
}

function resultLabel(value: string): string {
  return value === 'ok' ? 'OK' : value === 'error' ? 'Error' : value;
}

/** An invalid value of a link is shown unchanged, with its error. */
function stateLabel(value: string): string {
  if (value === 'ended') return 'Ended';
  const state = z.union([CallStatus.exclude(['ended']), CallOutcome]).safeParse(value);
  return state.success ? STATES[state.data].label : value;
}
