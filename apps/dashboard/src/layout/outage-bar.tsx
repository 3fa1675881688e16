import { Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useNow } from '../components/time.js';
import type { Outage } from '../stream/feed.js';
import classes from './shell.module.css';

export const OUTAGE_BAR_PX = 32;

/** On every page while the connection is lost: since when, and when it is tried again. The seconds are not read aloud. */
export function OutageBar({ since, retryAt }: Outage) {
  const left = Math.ceil((retryAt - useNow()) / 1000);
  return (
    <div className={classes.outage} style={{ height: OUTAGE_BAR_PX }} role="status" data-outage>
      <IconPlugConnectedX size={16} aria-hidden />
      <Text fz={{ base: 12, xs: 14 }} fw={600} span truncate>
        No connection since {minuteText(since)}
        <span aria-hidden>, {left > 0 ? `trying again in ${left} s` : 'trying again now'}</span>
      </Text>
    </div>
  );
}

function minuteText(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
}
