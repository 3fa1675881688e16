import { Badge } from '@mantine/core';
import { STATES, type ShownState } from '../theme.js';
import classes from './state-badge.module.css';

const MOVING: readonly ShownState[] = ['running', 'retrying', 'cancelling'];

/** The state of a call: a word first, the colour beside it. */
export function StateBadge({ state, size = 'sm' }: { readonly state: ShownState; readonly size?: 'xs' | 'sm' | 'md' | 'lg' }) {
  const { label, color } = STATES[state];
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
    </Badge>
  );
}
