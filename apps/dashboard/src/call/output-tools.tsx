import { Button, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Call } from '#contracts';
import { escapeInvisible } from '#subject';
import { countText } from '../components/count-text.js';
import { notifyError } from '../components/notify.js';
import { saveFile } from '../components/save-file.js';
import { useToolyard } from '../stream/toolyard.js';
import { Tool } from './log/log-toolbar.js';
import type { TerminalText } from './log/terminal-text.js';
import type { WholeOutput } from './whole-output.js';

/** Saves the output as a file: the stored one, or the received part of a running call. */
export function Download({ call, text }: { readonly call: Call; readonly text: TerminalText }) {
  const { client } = useToolyard();
  const download = useMutation({
    mutationFn: async () => (call.status === 'ended' ? client.calls.output(call.id) : new TextEncoder().encode(text.text())),
    onSuccess: (bytes) => saveFile(bytes, `${call.id}.txt`, 'text/plain'),
    onError: (error) => notifyError('The output could not be loaded', error),
  });
  return <Tool icon={IconDownload} label="Download" loading={download.isPending} onClick={() => download.mutate()} />;
}

interface MissingLinesProps {
  readonly whole: WholeOutput;
  /** Number of dropped lines before the shown ones. */
  readonly dropped: number;
  readonly isEnded: boolean;
}

/** Reports missing lines, and loads them. */
export function MissingLines({ whole: { lacking, isLoading, error, load }, dropped, isEnded }: MissingLinesProps) {
  if (lacking === undefined) return null;
  return (
    <>
      <Text size="xs">
        {lacking === 'dropped'
          ? `${countText(dropped, 'earlier line is', 'earlier lines are')} not kept in the browser.`
          : 'Some of the output was left out of the stream.'}
        {error !== null && ` The output could not be loaded: ${escapeInvisible(error.message)}`}
      </Text>
      {load && (
        <Button size="compact-xs" variant="default" loading={isLoading} onClick={load}>
          {isEnded ? 'Load the whole output' : 'Load earlier lines'}
        </Button>
      )}
    </>
  );
}
