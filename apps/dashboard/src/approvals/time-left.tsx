import { Badge } from '@mantine/core';
import { durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';

const SOON_MS = 60_000;

/** How long an approval can still be given. */
export function TimeLeft({ at, size = 'xs' }: { readonly at: number; readonly size?: 'xs' | 'sm' }) {
  const left = at - useNow();
  return (
    <Badge size={size} variant="dot" color={left < SOON_MS ? 'red' : 'gray'} tt="none" miw="max-content">
      {left <= 0 ? 'expired' : `${durationText(left)} left`}
    </Badge>
  );
}
