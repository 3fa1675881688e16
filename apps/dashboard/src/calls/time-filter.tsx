import { Button, Group, Popover, Stack, TextInput } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';
import { momentText } from '../components/duration.js';
import { spanMs, type CallSearch } from './call-search.js';

const SPANS = [
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
] as const;

interface TimeFilterProps {
  readonly search: CallSearch;
  readonly onChange: (times: Pick<CallSearch, 'since' | 'until'>) => void;
}

/** Filter of the submission time: a span that moves with the time, or two times. */
export function TimeFilter({ search: { since, until }, onChange }: TimeFilterProps) {
  const [isOpen, setOpen] = useState(false);
  const choose = (times: Pick<CallSearch, 'since' | 'until'>) => {
    onChange(times);
    setOpen(false);
  };
  return (
    <Popover width={260} position="bottom-start" shadow="md" opened={isOpen} onChange={setOpen} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant={since === undefined && until === undefined ? 'default' : 'light'}
          size="xs"
          rightSection={<IconChevronDown size={13} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          {timeText(since, until)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Filter by time">
        <Stack gap={4}>
          <Choice label="Any time" chosen={since === undefined && until === undefined} onClick={() => choose({})} />
          {SPANS.map(({ value, label }) => (
            <Choice key={value} label={label} chosen={since === value} onClick={() => choose({ since: value })} />
          ))}
          <Range since={since} until={until} onApply={choose} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Choice({ label, chosen, onClick }: { readonly label: string; readonly chosen: boolean; readonly onClick: () => void }) {
  return (
    <Button
      variant={chosen ? 'light' : 'subtle'}
      color={chosen ? 'sky' : 'gray'}
      size="xs"
      justify="flex-start"
      aria-pressed={chosen}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}

function Range({ since, until, onApply }: Pick<CallSearch, 'since' | 'until'> & { readonly onApply: TimeFilterProps['onChange'] }) {
  const [from, setFrom] = useState(localOf(since));
  const [to, setTo] = useState(localOf(until));
  const times = { ...(from === '' ? {} : { since: isoOf(from) }), ...(to === '' ? {} : { until: isoOf(to) }) };
  return (
    <Stack gap={4} mt={4}>
      <TextInput size="xs" type="datetime-local" label="From" value={from} onChange={({ currentTarget }) => setFrom(currentTarget.value)} />
      <TextInput size="xs" type="datetime-local" label="To" value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)} />
      <Group justify="flex-end">
        <Button size="xs" disabled={from === '' && to === ''} onClick={() => onApply(times)}>
          Apply
        </Button>
      </Group>
    </Stack>
  );
}

function timeText(since: string | undefined, until: string | undefined): string {
  const span = SPANS.find(({ value }) => value === since)?.label;
  if (until === undefined && span !== undefined) return span;
  if (since === undefined && until === undefined) return 'Any time';
  const at = (text: string) => (spanMs(text) === undefined && !Number.isNaN(Date.parse(text)) ? momentText(Date.parse(text)) : text);
  return [since === undefined ? '' : `from ${at(since)}`, until === undefined ? '' : `to ${at(until)}`].filter(Boolean).join(' ');
}

/** A time of the address for the field, in the zone of the browser; empty for none, a span or a text that is no time. */
function localOf(text: string | undefined): string {
  const at = text === undefined || spanMs(text) !== undefined ? Number.NaN : Date.parse(text);
  if (Number.isNaN(at)) return '';
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function isoOf(local: string): string {
  return new Date(local).toISOString();
}
