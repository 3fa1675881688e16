import { Button, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { clockText } from '../components/duration.js';
import { useToolyard } from '../stream/toolyard.js';

interface PauseButtonProps {
  readonly pausedAt: number | undefined;
  readonly onChange: (pausedAt: number | undefined) => void;
}

/** Pauses and resumes moving content (WCAG 2.2.2), and counts the new calls. */
export function PauseButton({ pausedAt, onChange }: PauseButtonProps) {
  const isPaused = pausedAt !== undefined;
  const Icon = isPaused ? IconPlayerPlay : IconPlayerPause;
  return (
    <>
      {isPaused && <Missed key={pausedAt} pausedAt={pausedAt} />}
      <Button
        size="xs"
        variant={isPaused ? 'filled' : 'default'}
        leftSection={<Icon size={15} aria-hidden />}
        onClick={() => onChange(isPaused ? undefined : Date.now())}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </>
  );
}

function Missed({ pausedAt }: { readonly pausedAt: number }) {
  const { feed } = useToolyard();
  const [count, setCount] = useState(0);
  useEffect(
    () =>
      feed.listen((events) => {
        const came = events.filter(({ type }) => type === 'call.submitted').length;
        if (came > 0) setCount((before) => before + came);
      }),
    [feed],
  );
  return (
    <Text size="xs" c="dimmed" component="span" data-missed={count}>
      Paused at {clockText(pausedAt)} · {count.toLocaleString()} new {count === 1 ? 'call' : 'calls'}
    </Text>
  );
}
