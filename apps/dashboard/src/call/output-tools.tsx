import { Button, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Call } from '#contracts';
import { notifyError } from '../components/notify.js';
import { saveFile } from '../components/save-file.js';
import { useToolyard } from '../stream/toolyard.js';
import type { AttemptOutput, CallView } from './call-view.js';
import { Tool } from './log/log-toolbar.js';
import { linesOf, type TerminalText } from './log/terminal-text.js';
import { counted } from '../components/counted.js';

/** Saves the output as a file: the stored one, or what is here of a call that still runs. */
export function Download({ call, text }: { readonly call: Call; readonly text: TerminalText }) {
  const { client } = useToolyard();
  const download = useMutation({
    mutationFn: async () => (call.status === 'ended' ? client.calls.output(call.id) : new TextEncoder().encode(text.text())),
    onSuccess: (bytes) => saveFile(bytes, `${call.id}.txt`, 'text/plain'),
    onError: (error) => notifyError('The output could not be loaded', error),
  });
  return <Tool icon={IconDownload} label="Download" loading={download.isPending} onClick={() => download.mutate()} />;
}

interface EarlierLinesProps {
  readonly call: Call;
  readonly view: CallView;
  readonly output: AttemptOutput;
  /** The stored output of an ended call, which replaces what was streamed. */
  readonly onWhole: (lines: TerminalText) => void;
}

/** Says that lines are missing, and loads them: from the stored output, or for a running call from its events. */
export function EarlierLines({ call, view, output, onWhole }: EarlierLinesProps) {
  const { client } = useToolyard();
  const ended = call.status === 'ended';
  const load = useMutation({
    mutationFn: async () => {
      if (ended) onWhole(linesOf(new TextDecoder().decode(await client.calls.output(call.id))));
      else view.refill(await client.calls.events(call.id));
    },
    onError: (error) => notifyError('The output could not be loaded', error),
  });
  const { dropped } = output.text;
  const isLacking = ended && (output.isCut || view.skipped > 0);
  if (dropped === 0 && !isLacking) return null;
  return (
    <>
      <Text size="xs">
        {dropped > 0
          ? `${counted(dropped, 'earlier line is', 'earlier lines are')} not kept in the browser.`
          : 'Some of the output was left out of the stream.'}
      </Text>
      <Button size="compact-xs" variant="default" loading={load.isPending} onClick={() => load.mutate()}>
        {ended ? 'Load the whole output' : 'Load earlier lines'}
      </Button>
    </>
  );
}
