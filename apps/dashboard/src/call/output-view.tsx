import { Alert, Button, Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Call } from '#contracts';
import { escapeInvisible } from '#subject';
import { Refusal } from '../components/refusal.js';
import { integrityStatus, integrityError, type AttemptOutput, type CallView } from './call-view.js';
import { ContentView } from './content.js';
import { LogView } from './log/log-view.js';
import { Download, MissingLines } from './output-tools.js';
import { useStoredOutput, useWholeOutput } from './whole-output.js';
import { durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';

const QUIET_MS = 30_000;

/** Reports a running tool without output for a while. */
function SilenceNotice({ since }: { readonly since: number | undefined }) {
  const ms = useNow() - (since ?? Number.POSITIVE_INFINITY);
  return ms < QUIET_MS ? null : (
    <Text size="sm" c="dimmed">
      Quiet for {durationText(ms)}: the tool runs, and has written nothing since.
    </Text>
  );
}

interface OutputViewProps {
  readonly call: Call;
  readonly view: CallView;
  readonly version: number;
}

/** The output of each attempt, live. */
export function OutputView({ call, view, version }: OutputViewProps) {
  const running = call.status !== 'ended';
  const { attempts } = view;
  const [chosen, setChosen] = useState<number>();
  const latest = attempts.at(-1);
  const shown = attempts.find(({ attempt }) => attempt === chosen) ?? latest;
  const whole = integrityStatus(view);
  const fault = useFault(view, version, running);
  if (shown === undefined)
    return (
      <Text size="sm" c="dimmed" py="md">
        {running
          ? 'Nothing yet. Output appears here as the tool writes it.'
          : 'The tool wrote nothing while it ran; what it gave back is under Result.'}
      </Text>
    );
  return (
    <Stack gap="xs">
      {attempts.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label="Attempt"
          value={String(shown.attempt)}
          onChange={(value) => setChosen(Number(value))}
          data={attempts.map(({ attempt }) => ({ value: String(attempt), label: `Attempt ${attempt}` }))}
        />
      )}
      {fault !== undefined && (
        <Alert color="red" title="This is not what the tool wrote">
          {fault}. The result is complete.
        </Alert>
      )}
      <Progressed output={shown} />
      <AttemptText key={shown.attempt} call={call} view={view} output={shown} version={version} isLast={shown === latest} />
      <ContentView content={shown.pieces} />
      {call.status === 'running' && <SilenceNotice since={view.outputAt} />}
      <Text size="xs" c="dimmed" role="status" data-testid="output-state">
        {shown.updates.toLocaleString()} {shown.updates === 1 ? 'update' : 'updates'}
        {view.skipped > 0 ? `, ${view.skipped} left out because this page was too slow` : ''}
        {running ? ' so far' : whole === undefined ? '' : whole.got === whole.of ? ': complete' : ` of ${whole.of}`}
      </Text>
    </Stack>
  );
}

function useFault(view: CallView, version: number, running: boolean): string | undefined {
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    if (!running) void integrityError(view).then(setFault);
  }, [view, version, running]);
  return fault;
}

interface AttemptTextProps extends OutputViewProps {
  readonly output: AttemptOutput;
  readonly isLast: boolean;
}

/**
 * The text of an attempt; `#L120` in the address shows and marks a line. What the stream lacks is loaded where it counts: after a
 * failure, for a line of the address, and to find something.
 */
function AttemptText({ call, view, output, version, isLast }: AttemptTextProps) {
  const hash = useLocation({ select: (location) => location.hash });
  const navigate = useNavigate();
  const [isFinding, setFinding] = useState(false);
  const line = /^L([1-9]\d{0,7})$/.exec(hash)?.[1];
  const isLeftOut = output.isCut || view.skipped > 0;
  const whole = useWholeOutput({ call, view, output, isLast }, isFinding || line !== undefined || (call.ok === false && isLeftOut));
  const text = whole.stored ?? output.text;
  if (text.length === 0) return null;
  return (
    <LogView
      lines={text}
      version={version}
      label={`Output of attempt ${output.attempt}`}
      dropped={text.dropped}
      isNumbered={whole.stored !== undefined || !isLeftOut}
      live={isLast && call.status !== 'ended'}
      atEnd={call.ok === false}
      linked={{
        line: line === undefined ? undefined : Number(line),
        onLink: (chosen) =>
          void navigate({
            to: '.',
            search: (before) => before,
            hash: `L${chosen}`,
            replace: true,
            resetScroll: false,
            hashScrollIntoView: false,
          }),
      }}
      onFind={setFinding}
      rest={whole.isLoading ? 'loading' : whole.lacking && 'missing'}
      actions={<Download call={call} text={text} />}
      note={<MissingLines whole={whole} dropped={text.dropped} isEnded={call.status === 'ended'} />}
    />
  );
}

function Progressed({ output: { progress } }: { readonly output: AttemptOutput }) {
  if (progress === undefined) return null;
  const { message, done, total } = progress;
  return (
    <div>
      {message !== undefined && <Text size="sm">{escapeInvisible(message)}</Text>}
      {done !== undefined && total !== undefined && total > 0 && (
        <Progress value={Math.min(100, (100 * done) / total)} size="lg" aria-label={`${done} of ${total}`} />
      )}
    </div>
  );
}

/** The complete output, which was truncated for the model: loaded on request, and by itself after a failure. */
export function CompleteOutput({ call, bytes }: { readonly call: Call; readonly bytes: number }) {
  const [isAsked, setAsked] = useState(false);
  const isFailed = call.ok === false;
  const { data: lines, error, isFetching, refetch } = useStoredOutput(call, isAsked || isFailed);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm">The model got a part; all of it is {bytes.toLocaleString()} bytes.</Text>
        {lines === undefined && (
          <Button
            size="compact-xs"
            variant="default"
            loading={isFetching}
            onClick={() => (error === null ? setAsked(true) : void refetch())}
          >
            Load the whole output
          </Button>
        )}
      </Group>
      {error !== null && <Refusal title="The output could not be loaded" error={error} />}
      {lines && <LogView lines={lines} label="Whole output" dropped={lines.dropped} atEnd={isFailed} />}
    </Stack>
  );
}
