import { SegmentedControl } from '@mantine/core';
import { z } from 'zod';

/** The time window of a page; in the address as `?window=1h`. */
export const WINDOWS = { '10m': 600_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
export type WindowName = keyof typeof WINDOWS;

const Name = z.enum(['10m', '1h', '24h', '7d', '30d']);
export const WindowSearch = z.object({ window: Name.optional().catch(undefined) });

export function TimeWindow({ value, onChange, names }: TimeWindowProps) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="How far back"
      value={value}
      onChange={(chosen) => onChange(Name.parse(chosen))}
      data={names.map((name) => ({ value: name, label: name }))}
    />
  );
}

interface TimeWindowProps {
  readonly value: WindowName;
  readonly onChange: (name: WindowName) => void;
  readonly names: readonly WindowName[];
}
