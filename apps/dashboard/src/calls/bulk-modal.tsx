import { Alert, Button, Code, Group, Loader, Modal, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { BulkResult, CallFilterInput } from '#contracts';
import { ErrorState } from '../components/states.js';
import { useToolyard } from '../stream/toolyard.js';
import type { CallSearch } from './call-search.js';

export type BulkAction = 'cancel' | 'replay';

interface BulkModalProps {
  readonly action: BulkAction;
  readonly filter: CallFilterInput;
  readonly search: CallSearch;
  readonly onClose: () => void;
}

interface Progressed {
  readonly done: number;
  readonly failed: BulkResult['failed'];
  readonly state: 'running' | 'over' | 'stopped';
  readonly error?: unknown;
}

const WORDS = {
  cancel: { title: 'Cancel all calls that fit', verb: 'Cancel', past: 'cancelled', which: 'that have not ended' },
  replay: { title: 'Replay all calls that fit', verb: 'Replay', past: 'replayed', which: 'that have ended' },
} as const;

/** Shows the number of calls first, then the progress page by page, and the failures. */
export function BulkModal({ action, filter, search, onClose }: BulkModalProps) {
  const { client } = useToolyard();
  const words = WORDS[action];
  const [reason, setReason] = useState('');
  const [progress, setProgress] = useState<Progressed>();
  const stopping = useRef<AbortController>(undefined);
  const count = useQuery({
    queryKey: ['bulk', action, filter],
    queryFn: ({ signal }) =>
      action === 'cancel'
        ? client.calls.cancelMany({ filter, dryRun: true }, { signal })
        : client.calls.replayMany({ filter, dryRun: true }, { signal }),
    staleTime: 0,
    gcTime: 0,
  });

  const act = async () => {
    const controller = new AbortController();
    stopping.current = controller;
    let sum: Progressed = { done: 0, failed: [], state: 'running' };
    setProgress(sum);
    try {
      for (let cursor: string | undefined; ;) {
        const more = cursor === undefined ? {} : { cursor };
        const signal = { signal: controller.signal };
        const answer: BulkResult =
          action === 'cancel'
            ? await client.calls.cancelMany({ filter, ...more, ...(reason === '' ? {} : { reason }) }, signal)
            : await client.calls.replayMany({ filter, ...more }, signal);
        sum = { done: sum.done + answer.done, failed: [...sum.failed, ...answer.failed].slice(0, 100), state: 'running' };
        setProgress(sum);
        cursor = answer.cursor;
        if (cursor === undefined) break;
      }
      setProgress({ ...sum, state: 'over' });
    } catch (error) {
      setProgress({ ...sum, state: 'stopped', ...(controller.signal.aborted ? {} : { error }) });
    }
  };

  const matched = count.data?.matched ?? 0;
  return (
    <Modal opened onClose={onClose} title={words.title} size="md" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        <Group gap={6}>
          {Object.entries(search).map(([name, value]) => (
            <Code key={name}>{`${name}=${String(value)}`}</Code>
          ))}
        </Group>
        {count.isPending && (
          <Group gap="xs">
            <Loader size="sm" /> <Text size="sm">Counting …</Text>
          </Group>
        )}
        {count.isError && <ErrorState error={count.error} onRetry={() => void count.refetch()} />}
        {count.data && progress === undefined && (
          <>
            <Text data-testid="bulk-count">
              {count.data.exact ? '' : 'At least '}
              <strong>{matched.toLocaleString()}</strong> {matched === 1 ? 'call' : 'calls'} {words.which} {matched === 1 ? 'fits' : 'fit'}.
            </Text>
            {action === 'replay' && matched > 0 && (
              <Alert color="yellow" variant="light">
                Each becomes a new call with the same arguments, with a new decision. Side effects happen again.
              </Alert>
            )}
            {action === 'cancel' && (
              <TextInput
                label="Reason"
                placeholder="Shown with every call"
                value={reason}
                onChange={({ currentTarget }) => setReason(currentTarget.value)}
              />
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Leave them
              </Button>
              <Button color={action === 'cancel' ? 'red' : 'sky'} disabled={matched === 0} onClick={() => void act()}>
                {words.verb} {matched.toLocaleString()}
              </Button>
            </Group>
          </>
        )}
        {progress && (
          <Outcome progress={progress} matched={matched} past={words.past} onStop={() => stopping.current?.abort()} onClose={onClose} />
        )}
      </Stack>
    </Modal>
  );
}

interface OutcomeProps {
  readonly progress: Progressed;
  readonly matched: number;
  readonly past: string;
  readonly onStop: () => void;
  readonly onClose: () => void;
}

function Outcome({ progress, matched, past, onStop, onClose }: OutcomeProps) {
  const { done, failed, state, error } = progress;
  return (
    <>
      <Progress
        value={matched === 0 ? 100 : (100 * (done + failed.length)) / matched}
        animated={state === 'running'}
        aria-label="How far it has come"
      />
      <Text role="status" data-testid="bulk-done">
        {done.toLocaleString()} {past}
        {failed.length > 0 ? `, ${failed.length} could not be` : ''}
        {state === 'running' ? ' so far …' : '.'}
      </Text>
      {error !== undefined && <ErrorState error={error} />}
      {failed.slice(0, 10).map(({ callId, problem }) => (
        <Text key={callId} size="xs" c="dimmed">
          <Code>{callId}</Code> {problem.detail}
        </Text>
      ))}
      <Group justify="flex-end">
        {state === 'running' ? (
          <Button variant="default" onClick={onStop}>
            Stop here
          </Button>
        ) : (
          <Button onClick={onClose}>Close</Button>
        )}
      </Group>
    </>
  );
}
