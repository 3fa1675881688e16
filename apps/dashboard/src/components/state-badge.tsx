import { Badge } from '@mantine/core';
import { escapeInvisible } from '#subject';
import { STATES, type ShownState } from './theme.js';
import classes from './state-badge.module.css';

const MOVING: readonly ShownState[] = ['running', 'retrying', 'cancelling'];

interface StateBadgeProps {
  readonly state: ShownState;
  /** Shown beside an error if it is short, without what follows a code: `Error · exit 1`. */
  readonly note?: string | undefined;
  readonly size?: 'xs' | 'sm' | 'md' | 'lg';
}

const SHORT_NOTE_CHARS = 10;

export function isShort(note: string | undefined): note is string {
  return note !== undefined && note.length <= SHORT_NOTE_CHARS;
}

/** The state of a call as text and colour. */
export function StateBadge({ state, note, size = 'sm' }: StateBadgeProps) {
  const { label, color } = STATES[state];
  const [code] = note?.split(' · ', 1) ?? [];
  const short = state === 'error' && isShort(code) ? ` · ${escapeInvisible(code)}` : '';
  return (
    <Badge
      variant="dot"
      size={size}
      color={color}
      data-state={state}
      {...(MOVING.includes(state) ? { 'data-moving': true } : {})}
      classNames={{ root: classes['badge'] ?? '', label: classes['label'] ?? '' }}
    >
      {label}
      {short}
    </Badge>
  );
}
