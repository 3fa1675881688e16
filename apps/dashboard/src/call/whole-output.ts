import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Call } from '#contracts';
import { useToolyard } from '../stream/toolyard.js';
import type { AttemptOutput, CallView } from './call-view.js';
import { linesOf, type TerminalText } from './log/terminal-text.js';

/** The stored output of an ended call: at most 8 MiB, loaded when it is wanted, once for all parts of a page. */
export function useStoredOutput(call: Call, isWanted: boolean) {
  const { client } = useToolyard();
  return useQuery({
    queryKey: ['call-output', call.id],
    queryFn: async ({ signal }) => linesOf(new TextDecoder().decode(await client.calls.output(call.id, { signal }))),
    enabled: isWanted && call.status === 'ended',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });
}

export interface WholeOutput {
  /** Stored output, which replaces the streamed one. */
  readonly stored: TerminalText | undefined;
  /** Why the lines here are not all; undefined if they are. */
  readonly lacking: 'dropped' | 'left out' | undefined;
  readonly isLoading: boolean;
  readonly error: Error | null;
  /** Undefined where the rest cannot be loaded yet. */
  readonly load: (() => void) | undefined;
}

interface Streamed {
  readonly call: Call;
  readonly view: CallView;
  readonly output: AttemptOutput;
  /** True for the last attempt: its output is stored when the call has ended. */
  readonly isLast: boolean;
}

/**
 * Finds the parts that the stream of an attempt lacks, and loads them on demand: from the stored output, or from the events
 * of the call, which have all but what the worker left out.
 */
export function useWholeOutput({ call, view, output, isLast }: Streamed, isWanted: boolean): WholeOutput {
  const { client } = useToolyard();
  const [isAsked, setAsked] = useState(false);
  const isStored = call.status === 'ended' && isLast;
  const isLeftOut = output.isCut || view.skipped > 0;
  const lacking = output.text.dropped > 0 ? 'dropped' : isLeftOut ? 'left out' : undefined;
  const isLoaded = lacking !== undefined && (isWanted || isAsked);
  const stored = useStoredOutput(call, isStored && isLoaded);
  const hasEvents = !isStored && (output.text.dropped > 0 || view.skipped > 0);
  const refilled = useQuery({
    queryKey: ['call-refilled', call.id, view.skipped],
    queryFn: async ({ signal }) => {
      view.refill(await client.calls.events(call.id, { signal }));
      return true;
    },
    enabled: hasEvents && isLoaded,
    gcTime: 0,
  });
  const query = isStored ? stored : refilled;
  return {
    stored: isStored ? stored.data : undefined,
    lacking: isStored && stored.data !== undefined ? undefined : lacking,
    isLoading: query.isFetching,
    error: query.error,
    load: isStored || hasEvents ? () => (isLoaded ? void query.refetch() : setAsked(true)) : undefined,
  };
}
