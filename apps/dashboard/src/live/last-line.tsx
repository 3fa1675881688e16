import { Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { escapeInvisible } from '#subject';
import { plainText } from '../call/log/ansi.js';
import { useUnlessPaused } from '../components/paused.js';
import { useToolyard } from '../stream/toolyard.js';
import classes from './agent-list.module.css';

const MOST_CHARS = 300;

/** The last line that is not empty, after another piece of output. `before` is the one so far, which the piece may continue. */
function lastLineOf(before: string, piece: string): string {
  const lines = piece.split(/\r\n|\n|\r/);
  const last = lines.findLast((line) => line.trim() !== '');
  return last === undefined ? before : last.slice(0, MOST_CHARS);
}

const DRAWN_MS = 250;

/** The last line that a running call wrote, drawn a few times a second. */
export function LastLine({ callId }: { readonly callId: string }) {
  const { client } = useToolyard();
  const [newestLine, setLine] = useState('');
  const line = useUnlessPaused(newestLine);
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    let newest = '';
    const timer = setInterval(() => setLine(newest), DRAWN_MS);
    const read = async () => {
      for await (const item of client.watch({ callId, types: ['call.update'] }, { signal }))
        if (item.kind === 'event' && item.event.type === 'call.update')
          for (const piece of item.event.data.content) if (piece.type === 'text') newest = lastLineOf(newest, plainText(piece.text));
    };
    // Errors of the stream are ignored: the row shows everything except its output.
    read().catch(() => undefined);
    return () => {
      stopping.abort();
      clearInterval(timer);
    };
  }, [client, callId]);
  return line === '' ? null : (
    <Text size="xs" c="dimmed" truncate className={classes['line'] ?? ''} data-last-line>
      {escapeInvisible(line)}
    </Text>
  );
}
