import { Alert, Button, Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { Call } from '#contracts';
import { escapeInvisible } from '#subject';
import { notifyError } from '../components/notify.js';
import { useToolyard } from '../stream/toolyard.js';
import { integrityStatus, integrityError, type AttemptOutput, type CallView } from './call-view.js';
import { ContentView } from './content.js';
import { LogView } from './log/log-view.js';
import type { TerminalText } from './log/terminal-text.js';
import { Download, EarlierLines } from './output-tools.js';
import { Quiet } from './quiet.js';

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
      <AttemptText call={call} view={view} output={shown} version={version} live={running && shown === latest} />
      <ContentView content={shown.pieces} />
      {call.status === 'running' && <Quiet since={view.outputAt} />}
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
  readonly live: boolean;
}

/** The text of an attempt; `#L120` in the address shows and marks a line. */
function AttemptText({ call, view, output, version, live }: AttemptTextProps) {
  const hash = useLocation({ select: (location) => location.hash });
  const navigate = useNavigate();
  const [whole, setWhole] = useState<TerminalText>();
  const text = whole ?? output.text;
  const line = /^L([1-9]\d{0,7})$/.exec(hash)?.[1];
  if (text.length === 0) return null;
  return (
    <LogView
      lines={text}
      version={version}
      label={`Output of attempt ${output.attempt}`}
      dropped={text.dropped}
      live={live}
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
      actions={<Download call={call} text={text} />}
      note={whole === undefined && <EarlierLines call={call} view={view} output={output} onWhole={setWhole} />}
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

const MOST_SHOWN = 2_000_000;

/** Loads the complete output, which was truncated for the model. */
export function WholeOutput({ call, bytes }: { readonly call: Call; readonly bytes: number }) {
  const { client } = useToolyard();
  const load = useMutation({
    mutationFn: () => client.calls.output(call.id),
    onError: (error) => notifyError('The output could not be loaded', error),
  });
  const text = useMemo(() => load.data && new TextDecoder().decode(load.data.slice(0, MOST_SHOWN)), [load.data]);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm">The model got the beginning; all of it is {bytes.toLocaleString()} bytes.</Text>
        <Button size="compact-xs" variant="default" loading={load.isPending} onClick={() => load.mutate()}>
          Load the whole output
        </Button>
      </Group>
      {text !== undefined && <ContentView content={[{ type: 'text', text }]} />}
    </Stack>
  );
}
