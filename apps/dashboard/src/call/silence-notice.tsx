import { Text } from '@mantine/core';
import { durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';

const QUIET_MS = 30_000;

/** Says when a running tool has written nothing for a while. */
export function SilenceNotice({ since }: { readonly since: number | undefined }) {
  const ms = useNow() - (since ?? Number.POSITIVE_INFINITY);
  return ms < QUIET_MS ? null : (
    <Text size="sm" c="dimmed">
      Quiet for {durationText(ms)}: the tool runs, and has written nothing since.
    </Text>
  );
}
