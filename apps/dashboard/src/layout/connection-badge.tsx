import { Badge, Tooltip } from '@mantine/core';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import type { FeedState } from '../stream/feed.js';

const SHOWN: Readonly<Record<FeedState, { readonly label: string; readonly color: string; readonly about: string }>> = {
  connecting: { label: 'Connecting', color: 'gray', about: 'The event stream is being opened.' },
  live: { label: 'Live', color: 'teal', about: 'Events arrive as they happen.' },
  reconnecting: {
    label: 'Reconnecting',
    color: 'orange',
    about: 'The connection was lost. It goes on where it stopped: nothing in between is missed.',
  },
  closed: { label: 'Not connected', color: 'red', about: 'The gateway refused the event stream. Sign out and use another key.' },
};

/** The state of the event stream. */
export function ConnectionBadge() {
  const { feed } = useToolyard();
  useFrames(feed);
  const { label, color, about } = SHOWN[feed.state];
  return (
    <Tooltip label={about} multiline maw={280}>
      <Badge variant="dot" color={color} size="lg" tt="none" fw={550} role="status" aria-live="polite" data-connection={feed.state}>
        {label}
      </Badge>
    </Tooltip>
  );
}
