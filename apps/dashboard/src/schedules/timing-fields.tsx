import { Autocomplete, Group, NumberInput, Select, TextInput } from '@mantine/core';
import { z } from 'zod';
import { UNITS, type ScheduleDraft } from './schedule-draft.js';

interface TimingFieldsProps {
  readonly draft: ScheduleDraft;
  readonly onChange: (change: Partial<ScheduleDraft>) => void;
}

/** Timing of a schedule: an expression, an interval or a moment. */
export function TimingFields({ draft, onChange }: TimingFieldsProps) {
  if (draft.kind === 'every')
    return (
      <Group align="flex-end" gap="xs">
        <NumberInput
          label="Every"
          min={1}
          value={draft.every ?? ''}
          onChange={(value) => onChange({ every: typeof value === 'number' ? value : undefined })}
        />
        <Select
          aria-label="Unit"
          allowDeselect={false}
          data={[...UNITS]}
          value={draft.unit}
          onChange={(unit) => unit !== null && onChange({ unit: z.enum(['s', 'm', 'h', 'd']).parse(unit) })}
        />
      </Group>
    );
  if (draft.kind === 'at')
    return (
      <TextInput
        type="datetime-local"
        step={1}
        label="At"
        description="By the clock of this browser."
        value={draft.at}
        onChange={({ currentTarget }) => onChange({ at: currentTarget.value })}
      />
    );
  return (
    <>
      <TextInput
        label="Cron expression"
        description="Minute, hour, day, month, weekday; 6 fields with seconds first."
        value={draft.cron}
        onChange={({ currentTarget }) => onChange({ cron: currentTarget.value })}
        styles={{ input: { fontFamily: 'var(--app-mono)' } }}
      />
      <Autocomplete
        label="Time zone"
        data={Intl.supportedValuesOf('timeZone')}
        limit={30}
        value={draft.timeZone}
        onChange={(timeZone) => onChange({ timeZone })}
      />
    </>
  );
}
